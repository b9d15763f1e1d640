package view

import (
	"errors"
	"path"
	"strings"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/parcel"
	"github.com/rollscope/rollscope/core/redact"
	"github.com/rollscope/rollscope/core/view/filter"
)

// LargestParcel is how many packed bytes one HTML file carries: browsers open a text of more with difficulty.
const LargestParcel = 100 << 20

// viewerBytes is about what the viewer takes of a single file.
const viewerBytes = 5_200_000

// A Sample is some bytes of files and how small they became.
type Sample struct{ Plain, Packed int64 }

// A Giving says what a bundle would hold before it is made.
type Giving struct {
	Given *Given
	All   string // the choice of all rows
	Some  string // the choice of the rows of the filter, "" where there is no filter

	Problem string // why there can be none; the rest is then what is known
	Rules   string // of redaction, "" for none
	Parts   []Pair // what it is about
	Goes    []Pair // files with their sizes
	Stays   []Pair // files with the reason
	Large   bool   // the file would probably be too large
	Command string // what makes the same natively, in a directory of any size
	Name    string // of the file
}

// Giving looks at what a person wants to share. A sample tells how well the files can be packed.
func (d *Desk) Giving(s State, filtered bool, rules, title string, sample Sample) *Giving {
	g := &Giving{Rules: strings.TrimSpace(rules), Name: "bundle.html"}
	var parsed redact.Rules
	if g.Rules != "" {
		var err error
		if parsed, err = redact.Parse(rules); err != nil {
			g.Problem = "Redaction: " + err.Error() + "."
		}
	}
	given, err := d.Give(s, filtered && s.Filter != "")
	g.Given = given
	if given == nil {
		g.Problem = "There is nothing to share yet."
		return g
	}
	g.All = "all " + count(given.Rows.Of, "row", "rows")
	c := d.choose(s)
	if found := d.filter(c, s); s.Filter != "" && found.err == nil {
		g.Some = "the " + count(found.len(c), "row", "rows") + " of the filter " + s.Filter
	}
	var wrong *filter.Error
	switch {
	case g.Problem != "":
	case errors.As(err, &wrong):
		g.Problem = "The filter cannot be read, so it chooses no rows: " + wrong.Message + "."
	case err != nil:
		g.Problem = "Not yet: " + err.Error() + "."
	case given.Rows.Kept == 0 && given.Filtered:
		g.Problem = "No row fits the filter, so there is nothing to share."
	}
	plan := parcel.NewPlan(given.Files, &parcel.Choice{Rules: parsed})
	if g.Problem == "" && len(plan.Rollouts)+len(plan.Beside) == 0 {
		g.Problem = "There is no file of a run here, so there is nothing to share."
	}
	g.list(plan)
	g.size(plan, sample, len(parsed) > 0)
	g.Command = bundleCommand(given, g.Rules, title)
	if len(parsed) == 0 {
		g.Name = d.parcelName(plan) // a name could hold what is redacted
	}
	return g
}

// list writes which files go along and which do not.
func (g *Giving) list(p *parcel.Plan) {
	files := g.Given.Files
	take := func(list []int) {
		for n, i := range list {
			if n == mostDescribed {
				g.Goes = append(g.Goes, Pair{Name: "…", Text: count(len(list)-n, "more file", "more files")})
				break
			}
			text := Bytes(files[i].Size)
			switch rows := g.Given.Wanted[i]; {
			case g.Given.Filtered && files[i].Rollouts && len(rows) == 0:
				text = "no row of it fits the filter"
			case g.Given.Filtered && files[i].Rollouts:
				text = Bytes(wantedBytes(rows)) + " of " + text
			}
			if files[i].Packed {
				text += ", goes in unpacked"
			}
			g.Goes = append(g.Goes, Pair{Name: files[i].Path, Text: text})
		}
	}
	take(p.Rollouts)
	take(p.Beside)
	for n, l := range p.Left {
		if n == mostDescribed {
			g.Stays = append(g.Stays, Pair{Name: "…", Text: count(len(p.Left)-n, "more file", "more files")})
			break
		}
		g.Stays = append(g.Stays, Pair{Name: files[l.File].Path, Text: l.Reason})
	}
	goes, stays := len(p.Rollouts)+len(p.Beside), len(p.Left)
	g.Parts = append(g.Parts, Pair{Name: "goes along", Text: count(g.Given.Rows.Kept, "row", "rows") + " in " + count(len(p.Rollouts), "rollouts file", "rollouts files") +
		", " + count(goes-len(p.Rollouts), "file", "files") + " beside them"})
	if stays > 0 {
		g.Parts = append(g.Parts, Pair{Name: "stays here", Text: count(stays, "file", "files")})
	}
}

func wantedBytes(rows []parcel.Range) (n int64) {
	for _, r := range rows {
		n += r.Length + 1
	}
	return n
}

// size says about how large the file becomes.
func (g *Giving) size(p *parcel.Plan, sample Sample, redacted bool) {
	plain, packed := int64(0), int64(0)
	for _, i := range append(append([]int{}, p.Rollouts...), p.Beside...) {
		f := &g.Given.Files[i]
		rows := g.Given.Filtered && f.Rollouts
		switch {
		case f.Packed && rows:
			packed += int64(float64(f.Size) * float64(g.Given.Rows.Kept) / float64(max(g.Given.Rows.Of, 1)))
		case f.Packed:
			packed += f.Size
		case rows:
			plain += wantedBytes(g.Given.Wanted[i])
		default:
			plain += f.Size
		}
	}
	if sample.Plain > 0 && sample.Packed > 0 {
		packed += int64(float64(plain) * float64(sample.Packed) / float64(sample.Plain))
	} else {
		packed += plain
	}
	about := "about "
	if redacted || sample.Plain <= 0 {
		about = "at most about "
	}
	text := about + Bytes(viewerBytes+packed*4/3) + ", " + Bytes(viewerBytes) + " of them the viewer"
	if packed > LargestParcel {
		text += "; more than one file carries, which is " + Bytes(LargestParcel) + " of packed rows"
		g.Large = true
	}
	g.Parts = append(g.Parts, Pair{Name: "size", Text: text})
}

// bundleCommand is what makes the same bundle natively, as a directory of any size.
func bundleCommand(x *Given, rules, title string) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	command := "rollscope bundle RUN -o DIR"
	if x.Filtered {
		command += " --filter " + quote(x.Filter)
	}
	if rules != "" {
		command += " --redact " + quote(rules)
	}
	if title != "" {
		command += " --title " + quote(title)
	}
	return command
}

// parcelName is a name for the file: that of the folder which all files share, or of the file that is alone.
func (d *Desk) parcelName(p *parcel.Plan) string {
	if len(p.Rollouts) == 0 {
		return "bundle.html"
	}
	first := d.files[p.Rollouts[0]].Path
	if top, _, below := strings.Cut(strings.TrimPrefix(first, "/"), "/"); below {
		first = top
	} else {
		first = strings.TrimSuffix(path.Base(first), path.Ext(first))
	}
	var b strings.Builder
	for _, c := range first {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c) && b.Len() > 0 {
			b.WriteRune(c)
		} else if b.Len() > 0 {
			b.WriteByte('-')
		}
		if b.Len() == 60 {
			break
		}
	}
	if b.Len() == 0 {
		return "bundle.html"
	}
	return strings.TrimRight(b.String(), "-.") + ".html"
}

// A Parcel says what a bundle is that has been made.
type Parcel struct {
	Lines []string // what is in it, and what is not
	Made  []string // from what
	Notes []string // what was probably not meant
}

// Parcelled describes a bundle for the person who made it.
func Parcelled(x *pack.Index, notes []string) Parcel {
	p := Parcel{Notes: notes}
	p.Lines = append(p.Lines, count(x.Rows.Kept, "row", "rows")+" of "+Group(x.Rows.Of)+" and "+count(len(x.Files), "file", "files")+" in "+count(len(x.Blocks), "block", "blocks"))
	made, lines := aboutBundle(x)
	p.Lines, p.Made = append(p.Lines, lines...), made
	return p
}
