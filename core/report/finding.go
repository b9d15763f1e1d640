package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/jsontext"
)

// A Rule is what a Finding is found by: a check, or a finding id of files.
type Rule struct {
	ID, Title, Text string
}

// Levels of findings.
const (
	LevelError   = "error"
	LevelWarning = "warning"
	LevelNote    = "note"
)

// A Finding is one finding with its place. Texts that are empty, and a Line of 0, mean that it names no such place.
type Finding struct {
	Rule    *Rule
	Level   string
	Message string
	File    string // path with slashes
	Line    int64  // physical line from 1
	Offset  int64  // of the first byte of the line in the (unpacked) file
	Length  int64  // of the line in bytes; without meaning if there is no line
	Inside  Inside
	Rollout string // id, or task and repeat
	Task    string
}

// Inside is a place inside a row.
type Inside struct {
	Pointer string // JSON pointer, "" for the row
	Offset  int64  // from the first byte of the line
	Length  int64  // in bytes, 0 for none
	Turn    int    // from 1, 0 for none
	Call    int    // from 1, 0 for none
}

// where names the place for people.
func (f *Finding) where() string {
	if f.Line > 0 {
		return f.File + ":" + strconv.FormatInt(f.Line, 10)
	}
	return f.File
}

// inside names the place inside a row for people.
func (f *Finding) inside() string {
	var words []string
	if f.Inside.Turn > 0 {
		words = append(words, "turn "+strconv.Itoa(f.Inside.Turn))
	}
	if f.Inside.Call > 0 {
		words = append(words, "model call "+strconv.Itoa(f.Inside.Call))
	}
	if len(words) == 0 {
		return f.Inside.Pointer
	}
	return strings.Join(words, ", ")
}

// rulesOf lists the rules of findings in the order of their first one.
func rulesOf(list []Finding) (rules []*Rule, at map[*Rule]int) {
	at = map[*Rule]int{}
	for i := range list {
		r := list[i].Rule
		if _, known := at[r]; !known {
			at[r] = len(rules)
			rules = append(rules, r)
		}
	}
	return rules, at
}

// WriteFindings writes findings as Markdown: a heading for each rule with what it means, below it a table of places.
func WriteFindings(w io.Writer, title string, list []Finding) error {
	p := &printer{w: w}
	p.put("# ", text(title), "\n")
	rules, at := rulesOf(list)
	by := make([][]*Finding, len(rules))
	for i := range list {
		n := at[list[i].Rule]
		by[n] = append(by[n], &list[i])
	}
	if len(rules) == 0 {
		p.put("\nNothing was found.\n")
	}
	for n, r := range rules {
		p.put("\n## ", code(r.ID), "\n\n")
		p.put("**", text(strconv.Itoa(len(by[n]))), "** ", text(r.Title), "\n")
		if r.Text != "" {
			p.put("\n", text(r.Text), "\n")
		}
		p.put("\n")
		t := Table{Columns: []Column{{Title: "place", Mono: true}, {Title: "rollout", Mono: true}, {Title: "in it"}, {Title: "level"}, {Title: "finding"}}}
		for _, f := range by[n] {
			t.Rows = append(t.Rows, []string{f.where(), f.Rollout, f.inside(), f.Level, f.Message})
		}
		t.markdown(p)
	}
	return p.err
}

// schema names the form that SARIF files have.
const schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// WriteSARIF writes findings as a SARIF 2.1.0 log of one run of a tool. A region is the line of a row, by number and
// by bytes; turn, call and the place inside the row are logical locations and properties. Fingerprints hold from one
// run to the next as long as the name of the file, the rollout and the place inside it stay.
func WriteSARIF(w io.Writer, tool, version string, list []Finding) error {
	p := &printer{w: w}
	rules, at := rulesOf(list)
	p.put("{\n \"$schema\": ", quote(schema), ",\n \"version\": \"2.1.0\",\n \"runs\": [\n  {\n   \"tool\": {\n    \"driver\": {\n     \"name\": ", quote(tool),
		",\n     \"version\": ", quote(version), ",\n     \"rules\": [")
	for i, r := range rules {
		comma(p, i)
		p.put("\n      {\"id\": ", quote(r.ID), ", \"shortDescription\": {\"text\": ", quote(sentence(r.Title)), "}")
		if r.Text != "" {
			p.put(", \"fullDescription\": {\"text\": ", quote(r.Text), "}")
		}
		p.put("}")
	}
	p.put("\n     ]\n    }\n   },\n   \"columnKind\": \"unicodeCodePoints\",\n   \"results\": [")
	for i := range list {
		comma(p, i)
		p.put("\n    ")
		list[i].sarif(p, at[list[i].Rule])
	}
	p.put("\n   ]\n  }\n ]\n}\n")
	return p.err
}

func (f *Finding) sarif(p *printer, rule int) {
	p.put("{\"ruleId\": ", quote(f.Rule.ID), ", \"ruleIndex\": ", strconv.Itoa(rule), ", \"level\": ", quote(f.Level), ", \"message\": {\"text\": ", quote(sentence(f.Message)), "}")
	if f.File != "" {
		p.put(", \"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ", quote(uri(f.File)), "}")
		if f.Line > 0 {
			p.put(", \"region\": {\"startLine\": ", number(f.Line), ", \"byteOffset\": ", number(f.Offset), ", \"byteLength\": ", number(f.Length), "}")
		}
		p.put("}")
		if in := f.inside(); f.Rollout != "" || in != "" {
			p.put(", \"logicalLocations\": [{\"fullyQualifiedName\": ", quote(strings.Trim(f.Rollout+"/"+in, "/")), ", \"kind\": \"element\"}]")
		}
		p.put("}]")
	}
	p.put(", \"partialFingerprints\": {\"rollout/v1\": ", quote(strings.Join([]string{f.Rule.ID, f.File, f.Rollout, f.Task, f.Inside.Pointer}, " ")), "}")
	p.put(", \"properties\": {")
	n := 0
	property := func(name, value string) {
		if n > 0 {
			p.put(", ")
		}
		n++
		p.put(quote(name), ": ", value)
	}
	if f.Rollout != "" {
		property("rollout", quote(f.Rollout))
	}
	if f.Task != "" {
		property("task", quote(f.Task))
	}
	if f.Inside.Pointer != "" {
		property("pointer", quote(f.Inside.Pointer))
	}
	if f.Inside.Length > 0 {
		property("byteOffset", number(f.Offset+f.Inside.Offset))
		property("byteLength", number(f.Inside.Length))
	}
	if f.Inside.Turn > 0 {
		property("turn", strconv.Itoa(f.Inside.Turn))
	}
	if f.Inside.Call > 0 {
		property("modelCall", strconv.Itoa(f.Inside.Call))
	}
	p.put("}}")
}

func comma(p *printer, i int) {
	if i > 0 {
		p.put(",")
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func quote(s string) string {
	return string(jsontext.AppendQuotedASCII(nil, strings.ToValidUTF8(s, "\uFFFD")))
}

// sentence ends a text as SARIF wants its messages.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// uri writes a path as a relative reference. A colon in its first segment would make a scheme of it.
func uri(path string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}
