package parcel

import (
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/redact"
	"github.com/rollscope/rollscope/core/runfolder"
)

// A File is one of the files that a person looks at.
type File struct {
	Path     string `json:"path"` // as it is named in the bundle
	Size     int64  `json:"size"` // in bytes, as it lies there
	Rollouts bool   `json:"rollouts,omitempty"`
	Packed   bool   `json:"packed,omitempty"` // with gzip; it goes in unpacked
	Aside    string `json:"aside,omitempty"`  // why it is not looked at; "" for all that are
}

// A Choice is what a person wants to hand on.
type Choice struct {
	Title    string
	Filtered bool   // some rows alone
	Filter   string // that chose them
	Rules    redact.Rules
	Rows     pack.Rows
	Origin   *pack.Origin // the bundle that the files come from, nil for none

	Made string // RFC 3339 in UTC
	By   string // program and version
}

// A Plan says which files go along.
type Plan struct {
	Rollouts []int // files, in the order in which they go in
	Beside   []int // the same of the other files, behind them
	Left     []Left

	files []File
}

// A Left is a file that does not go along.
type Left struct {
	File   int
	Reason string
}

// LargestBeside bounds files that are no rollouts, in bytes.
const LargestBeside = 16 << 20

// NewPlan looks at a list of files. Files of a run go along where they are small; what is no file of a run, such as
// settings with keys in them, never does.
func NewPlan(files []File, c *Choice) *Plan {
	p := &Plan{files: files}
	list := make([]runfolder.File, len(files))
	for i, f := range files {
		list[i] = runfolder.File{Path: f.Path, Size: f.Size}
		switch {
		case !f.Rollouts:
		case f.Aside != "":
			p.left(i, f.Aside)
		default:
			p.Rollouts = append(p.Rollouts, i)
		}
	}
	listing := runfolder.Sort(list)
	for _, i := range listing.Order {
		if files[i].Rollouts {
			continue
		}
		e := &listing.Entries[i]
		group := e.Kind.Info().Group
		switch {
		case e.SameAs >= 0:
			// It is there under the same path already.
		case files[i].Aside != "":
			p.left(i, files[i].Aside)
		case len(c.Rules) > 0:
			p.left(i, "rules are for rollouts alone, so nothing else goes along")
		case group != runfolder.GroupCompanion && group != runfolder.GroupFolder && group != runfolder.GroupCapture:
			p.left(i, "it is no file of a run")
		case e.Size > LargestBeside:
			p.left(i, "it is larger than "+strconv.Itoa(LargestBeside>>20)+" MiB")
		default:
			p.Beside = append(p.Beside, i)
		}
	}
	return p
}

func (p *Plan) left(file int, reason string) { p.Left = append(p.Left, Left{file, reason}) }

// Unique gives a name that is not taken, below a numbered folder where there must be one, and takes it.
func Unique(taken map[string]bool, name string) string {
	free := name
	for n := 2; taken[free]; n++ {
		free = strconv.Itoa(n) + "/" + name
	}
	taken[free] = true
	return free
}

// names gives every file its path in the bundle.
func (p *Plan) names() []string {
	names := make([]string, len(p.files))
	taken := map[string]bool{}
	for i, f := range p.files {
		name := f.Path
		if f.Rollouts && f.Packed {
			name = unpackedName(name)
		}
		names[i] = Unique(taken, strings.ToValidUTF8(name, "\uFFFD"))
	}
	return names
}

const packedEnding = ".gz"

func unpackedName(name string) string { return strings.TrimSuffix(name, packedEnding) }
