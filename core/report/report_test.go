package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/rollscope/rollscope/core/view"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain text 1.5":           "plain text 1.5",
		"agent_turn_hollow":        "agent_turn_hollow",
		"_lead and trail_":         `\_lead and trail\_`,
		"a | b":                    `a \| b`,
		"<img src=x onerror=y>":    `\<img src=x onerror=y\>`,
		"[x](javascript:y)":        `\[x\](javascript:y)`,
		"- item":                   `\- item`,
		"1. item":                  `1\. item`,
		"12) item":                 `12\) item`,
		"# head `code` &amp;":      "\\# head \\`code\\` \\&amp;",
		"two\nlines":               "two lines",
		"turn \u202e back \u200b|": `turn U+202E back U+200B\|`,
		"bad \xff byte":            "bad \uFFFD byte",
		"":                         "",
		"é_é":                      "é_é",
		"http://a.b WWW.c.d a: b.": `http\://a.b WWW\.c.d a: b.`,
		"\x1b[31mred":              `U+001B\[31mred`,
	} {
		if got := text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"a": "`a`", "a`b": "``a`b``", "`a": "`` `a ``", "x|y": "`x\\|y`", "": "", `x\|y`: `x\\\|y`, `x\y`: "`x\\y`"} {
		if got := code(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// hostile stands wherever a text of a file may.
const hostile = "</style><script>alert(1)</script>|`_*[x](y)\u202e\n# head"

func document() *Document {
	return &Document{Title: hostile, Lines: []string{hostile}, Sections: []Section{{
		Title: "Healthy", Number: "3", Of: "of 9 " + hostile,
		Parts: []view.Share{{Mark: view.MarkHealthy, Word: "healthy", Count: 6, Text: "6", Percent: "66.667 %", Part: 2.0 / 3}, {Mark: "x\"y", Word: "rest", Part: 7}},
		Lines: []Line{{hostile, hostile, hostile}, {Text: "alone"}},
		Tables: []Table{{Title: hostile, Columns: []Column{{Title: "a", Right: true}, {Title: hostile, Mono: true}}, Rows: [][]string{{"1", hostile}, {"2", ""}}, More: 3},
			{Columns: []Column{{Title: "a"}}, Empty: "Nothing."}},
		Notes: []string{hostile},
	}}}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := document().WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(b.String(), "\n") {
		if strings.Contains(line, "<script") && !strings.Contains(line, "`") && !strings.Contains(line, `\<script`) {
			t.Errorf("line %d has markup: %s", i, line)
		}
		if strings.HasPrefix(line, "# head") {
			t.Errorf("line %d: a text made a heading", i)
		}
		if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 3 {
			t.Errorf("line %d has another number of cells: %s", i, line)
		}
	}
	for _, want := range []string{"**3** of 9", "6 healthy (66.667 %)", "and 3 more", "Nothing.", "|--:|---|"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the document lacks %q:\n%s", want, b.String())
		}
	}
}

// The HTML runs nothing, loads nothing, and holds texts as texts.
func TestHTML(t *testing.T) {
	var b bytes.Buffer
	if err := document().WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	styles, policies := 0, 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "iframe", "img", "a", "form", "object":
			t.Errorf("there is an element %s", n.Data)
		case "style":
			styles++
			if n.FirstChild == nil || n.FirstChild.Data != style {
				t.Error("the style is another one than the policy's")
			}
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "style" || strings.HasPrefix(a.Key, "on") || a.Key == "src":
				t.Errorf("%s has an attribute %s", n.Data, a.Key)
			case a.Key == "http-equiv":
				policies++
			case a.Key == "href" && a.Val != "data:,":
				t.Errorf("%s leads to %s", n.Data, a.Val)
			}
		}
	}
	if styles != 1 || policies != 1 || strings.Contains(Policy(), "script") || !strings.HasPrefix(Policy(), "default-src 'none'") {
		t.Errorf("%d styles, %d policies, %s", styles, policies, Policy())
	}
	if strings.Count(b.String(), "U+202E") < 5 {
		t.Error("a turned text is not shown as it is")
	}
}

func findings() []Finding {
	a, b := &Rule{ID: "agent_turn_hollow", Title: "A turn is hollow", Text: "It says nothing."}, &Rule{ID: "layout.odd_name", Title: "odd name"}
	return []Finding{
		{Rule: a, Level: LevelError, Message: "turn 2 is " + hostile, File: "run a/röll:outs.jsonl", Line: 7, Offset: 812, Length: 44, Rollout: "1-0", Task: "1",
			Inside: Inside{Pointer: "/ng_trajectory/turns/1", Offset: 10, Length: 5, Turn: 2}},
		{Rule: b, Level: LevelNote, Message: "a name", File: "x\xff.json"},
		{Rule: a, Level: LevelError, Message: "no place"},
	}
}

func TestFindingsMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := WriteFindings(&b, "Findings", findings()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## `agent_turn_hollow`", "**2** A turn is hollow", "`run a/röll:outs.jsonl:7`", "turn 2", "## `layout.odd_name`"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
	}
}

// The log keeps to the rules of SARIF 2.1.0 that concern what is in it.
func TestSARIF(t *testing.T) {
	for _, list := range [][]Finding{nil, findings()} {
		var b bytes.Buffer
		if err := WriteSARIF(&b, "Rollscope", "1.2.3", list); err != nil {
			t.Fatal(err)
		}
		if err := CheckSARIF(b.Bytes(), len(list)); err != nil {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
}

// CheckSARIF holds a log against the properties of the standard: required ones, their types, bounds, references.
func CheckSARIF(text []byte, results int) error {
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name, Version string
					Rules         []struct {
						ID                                string
						ShortDescription, FullDescription *struct{ Text string }
					}
				}
			}
			ColumnKind string
			Results    []struct {
				RuleID, Level string
				RuleIndex     int
				Message       struct{ Text string }
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           *struct{ StartLine, ByteOffset, ByteLength int64 }
					}
					LogicalLocations []struct{ FullyQualifiedName, Kind string }
				}
				PartialFingerprints map[string]string
				Properties          map[string]any
			}
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&log); err != nil {
		return err
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || !strings.Contains(log.Schema, "sarif-schema-2.1.0") {
		return fmt.Errorf("version %q, %d runs, schema %q", log.Version, len(log.Runs), log.Schema)
	}
	run := log.Runs[0]
	if run.Tool.Driver.Name == "" || run.Results == nil || run.Tool.Driver.Rules == nil || run.ColumnKind != "unicodeCodePoints" && run.ColumnKind != "utf16CodeUnits" {
		return fmt.Errorf("no tool, rules or results")
	}
	if len(run.Results) != results {
		return fmt.Errorf("%d results, want %d", len(run.Results), results)
	}
	ids := map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		if r.ID == "" || ids[r.ID] || r.ShortDescription == nil || r.ShortDescription.Text == "" {
			return fmt.Errorf("rule %q", r.ID)
		}
		ids[r.ID] = true
	}
	for i, r := range run.Results {
		if r.RuleIndex < 0 || r.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			return fmt.Errorf("result %d: rule %q at %d", i, r.RuleID, r.RuleIndex)
		}
		if r.Level != "error" && r.Level != "warning" && r.Level != "note" || r.Message.Text == "" {
			return fmt.Errorf("result %d: level %q, message %q", i, r.Level, r.Message.Text)
		}
		for _, l := range r.Locations {
			u, err := url.Parse(l.PhysicalLocation.ArtifactLocation.URI)
			if err != nil || u.String() == "" || u.Scheme != "" {
				return fmt.Errorf("result %d: uri %q %v", i, l.PhysicalLocation.ArtifactLocation.URI, err)
			}
			if g := l.PhysicalLocation.Region; g != nil && (g.StartLine < 1 || g.ByteOffset < 0 || g.ByteLength < 0) {
				return fmt.Errorf("result %d: region %+v", i, g)
			}
		}
	}
	return nil
}
