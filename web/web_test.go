package web

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/rollscope/rollscope/core/view"
	offered "github.com/rollscope/rollscope/core/view/filter"
)

var update = flag.Bool("update", false, "write the golden files anew")

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func document(t *testing.T, p view.Page) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(render(t, Document(p, DocumentOptions{StyleHref: "style.css", ScriptSrc: "page.js", Keys: commands}))))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// each calls f for every element below n.
func each(n *html.Node, f func(*html.Node)) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode {
			f(d)
		}
	}
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// Markup must live under a policy without inline styles and scripts, and link to its own States alone.
func TestMarkupKeepsThePolicy(t *testing.T) {
	for _, in := range invented() {
		t.Run(in.name, func(t *testing.T) {
			ids := map[string]bool{}
			each(document(t, in.page), func(n *html.Node) {
				for _, a := range n.Attr {
					switch {
					case strings.Contains(a.Val, "about:invalid"):
						t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
					case a.Key == "style", strings.HasPrefix(a.Key, "on"):
						t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
					case a.Key == "id":
						if ids[a.Val] {
							t.Errorf("id %q occurs twice", a.Val)
						}
						ids[a.Val] = true
					case a.Key == "href" && n.DataAtom == atom.A && !strings.HasPrefix(a.Val, "#"):
						t.Errorf("link to %q", a.Val)
					case a.Key == "src" && n.DataAtom == atom.Img && !strings.HasPrefix(a.Val, "data:image/"):
						t.Errorf("image from %q", a.Val)
					}
				}
				switch n.DataAtom {
				case atom.Style, atom.Iframe, atom.Object, atom.Embed, atom.Base:
					t.Errorf("element <%s>", n.Data)
				case atom.Script:
					if attr(n, "src") != "page.js" || n.FirstChild != nil {
						t.Errorf("a script of its own")
					}
				}
			})
			for _, r := range Regions(in.page) {
				if !ids["region-"+r.Name] {
					t.Errorf("no element for the region %s", r.Name)
				}
			}
		})
	}
}

// What people and screen readers find their way by.
func TestMarkupIsNamed(t *testing.T) {
	for _, in := range invented() {
		t.Run(in.name, func(t *testing.T) {
			root := document(t, in.page)
			count := map[atom.Atom]int{}
			each(root, func(n *html.Node) {
				count[n.DataAtom]++
				name := strings.TrimSpace(textOf(n)) + attr(n, "aria-label") + attr(n, "title")
				switch n.DataAtom {
				case atom.A, atom.Button, atom.Summary, atom.Label:
					if name == "" && attr(n, "aria-hidden") == "" && attr(n, "class") != "thumb" { // its box has the name
						t.Errorf("<%s %v> has no name", n.Data, n.Attr)
					}
				case atom.Table, atom.Nav, atom.Canvas, atom.Dialog:
					if attr(n, "aria-label") == "" && !within(n, atom.Figure) {
						t.Errorf("<%s> has no name", n.Data)
					}
				case atom.Input:
					if attr(n, "aria-label") == "" {
						t.Errorf("<input %v> has no name", n.Attr)
					}
				case atom.Img:
					if attr(n, "alt") == "" {
						t.Error("an image without a text")
					}
				}
				if n.Data == "svg" && attr(n, "aria-hidden") == "" && attr(n, "role") == "" && n.Parent.Data != "svg" && n.Parent.Data != "a" {
					t.Errorf("<svg %v> is neither hidden nor named", n.Attr)
				}
			})
			for _, one := range []atom.Atom{atom.H1, atom.Main, atom.Header, atom.Footer} {
				if count[one] != 1 {
					t.Errorf("%d elements <%v>", count[one], one)
				}
			}
		})
	}
}

func within(n *html.Node, a atom.Atom) bool {
	for p := range n.Ancestors() {
		if p.DataAtom == a {
			return true
		}
	}
	return false
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// Each number stands once under its name, on the visible part if there is one.
func TestStatsStandOnce(t *testing.T) {
	for _, in := range invented() {
		seen := map[string]bool{}
		each(document(t, in.page), func(n *html.Node) {
			name := attr(n, "data-stat")
			if name == "" {
				return
			}
			if seen[name] {
				t.Errorf("%s: %s stands twice", in.name, name)
			}
			seen[name] = true
			has := false
			for _, a := range n.Attr {
				has = has || a.Key == "data-value"
			}
			if !has {
				t.Errorf("%s: %s has no value", in.name, name)
			}
		})
		for _, s := range in.page.Stats {
			if !seen[s.Name] {
				t.Errorf("%s: %s is lost", in.name, s.Name)
			}
		}
	}
}

// hostile are texts a file may hold anywhere.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onclick='alert(1)`, `</td></table><h1>`, "`<b>`", `javascript:alert(1)`,
	"\u202egnp.exe", "\x00\x1b[31m", "\xff\xfe", "a\u200bb", "<!--", "]]>", "&lt;&amp;", "&#x202e;", "\u2028",
}

// Texts of files change neither the elements of a page nor the direction of what follows them.
func TestHostileTextsStayText(t *testing.T) {
	shape := func(p view.Page) string {
		var b strings.Builder
		each(document(t, p), func(n *html.Node) {
			if n.Data == "span" && attr(n, "class") == "ctl" || n.Data == "code" {
				return
			}
			b.WriteString(n.Data)
			for _, a := range n.Attr {
				b.WriteString(" " + a.Key)
			}
			b.WriteByte('\n')
		})
		return b.String()
	}
	for _, in := range poisoned("x") {
		want := shape(in.page)
		for i, text := range hostile {
			var p view.Page
			for _, other := range poisoned(text) {
				if other.name == in.name {
					p = other.page
				}
			}
			if got := shape(p); got != want {
				t.Errorf("%s: text %d %q changes the page:\n%s", in.name, i, text, firstDifference(want, got))
			}
			for d := range document(t, p).Descendants() {
				seen := []string{}
				if d.Type == html.TextNode {
					seen = append(seen, d.Data)
				}
				// Other attributes are exact values for scripts; these are shown and read out.
				for _, key := range []string{"title", "aria-label", "alt", "data-why", "data-say"} {
					seen = append(seen, attr(d, key))
				}
				for _, s := range seen {
					if !clean(s, true) || strings.Contains(s, "\ufffd") {
						t.Errorf("%s: text %d %q leaves %q in the page", in.name, i, text, s)
					}
				}
			}
		}
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "want " + w[i] + "\ngot  " + g[i]
		}
	}
	return "one is longer"
}

// poisoned are pages with a text wherever a file's text may come to stand.
func poisoned(text string) []inventedPage {
	t := view.Text{Text: "t" + text, Title: "t" + text}
	pages := map[string]func(*view.Page){
		"rollouts": func(p *view.Page) {
			p.Title, p.Runs = "r"+text, []view.RunChoice{{Name: "r" + text, Detail: "d" + text, Current: true, Href: "#" + text}, {Name: "q" + text, Href: "#"}}
			p.Filter = view.FilterBar{Text: text, Chips: []view.Chip{{Text: "c" + text, Remove: "#" + text}}, Error: "e" + text}
			p.Alerts = []view.Alert{{Code: "torn_tail", Text: "a" + text, Help: "h" + text, Place: t}}
			p.Progress = &view.Progress{Name: "n" + text, Bytes: t}
			p.Foot, p.Links = []view.Text{t}, []view.Link{{Text: "l" + text, Download: "d" + text}}
			p.Stats = []view.Stat{{Name: "s", Value: text, Run: "r" + text}}
			p.Rollouts = &view.Rollouts{
				Facts:  []view.Fact{{Label: "f" + text, Value: t, Note: t}},
				Charts: []view.Chart{{ID: "c" + text, Title: "c" + text, Caption: "c" + text, Kind: "bars", Bins: []view.Bin{{Label: "b" + text, Text: "b" + text, Href: "#" + text}}}},
				Table: view.Table{ID: "t" + text, Caption: "c" + text, Total: 1, Note: "n" + text, Columns: []view.Column{{Key: "k" + text, Title: "h" + text, Help: "h" + text, Href: "#" + text}},
					Rows: []view.Row{{ID: "r" + text, Rollout: "r" + text, Finding: "f" + text, Href: "#" + text, Cells: []view.Cell{{Text: t, Extra: t}},
						Open: &view.Detail{Text: "d" + text, Notes: []string{"n" + text}, Links: []view.Link{{Text: "l" + text, Href: "#" + text}}}}}},
			}
		},
		"rollout": func(p *view.Page) {
			p.Rollout = &view.Rollout{
				Back: view.Link{Text: "b" + text, Href: "#"}, Name: "n" + text, TaskName: "n" + text, Place: "p" + text,
				Facts:    []view.FactGroup{{}, {Title: "g" + text, Note: "n" + text, Facts: []view.Fact{{Label: "l" + text, Value: t}}, Boxes: []view.Box{{Value: t}}}},
				Findings: []view.FindingView{{Check: "c" + text, Sentence: "s" + text, Where: view.Text{Text: "w" + text, Href: "#"}, Detail: []view.Pair{{Name: "n" + text, Text: "t" + text}}, Target: text}},
				Unjudged: []view.UnjudgedView{{Check: "c" + text, Reason: "r" + text}},
				Blocks: []view.Block{{Kind: "turn", ID: "i" + text, Title: "t" + text, Note: "n" + text, Children: []view.Block{
					{Kind: "message", ID: "m" + text, Title: "t" + text, Name: "n" + text, Text: "m" + text},
					{Kind: "call", Title: "t" + text, Text: "c" + text, Mono: true, Folded: 3, Unfold: "#" + text},
					{Kind: "finding", Title: "t" + text, Text: "f" + text}, {Kind: "note", Title: "t" + text, Text: "f" + text}}}},
			}
		},
		"raw": func(p *view.Page) {
			p.Rollout = &view.Rollout{Raw: &view.Raw{Note: "n" + text, Total: 1, Lines: []view.RawLine{{Key: "k" + text, Text: "t" + text, Kind: "string" + text, Folded: 1}}}}
		},
	}
	pages["calls"] = func(p *view.Page) { p.Calls = callsOf(text) }
	pages["performance"] = func(p *view.Page) { p.Performance = performanceOf(text) }
	var list []inventedPage
	for _, name := range []string{"rollouts", "rollout", "raw", "calls", "performance"} {
		p := shell("rollouts")
		pages[name](&p)
		list = append(list, inventedPage{name, p})
	}
	return list
}

func TestLinksAndImages(t *testing.T) {
	for _, href := range []string{"", "javascript:alert(1)", "https://example.org/", "//example.org", "/x", " #x", "data:text/html,x"} {
		if out := render(t, value(view.Text{Text: "x", Href: href})); strings.Contains(out, "<a") {
			t.Errorf("%q became a link: %s", href, out)
		}
	}
	if out := render(t, value(view.Text{Text: "x", Href: "#tab=health"})); !strings.Contains(out, `href="#tab=health"`) {
		t.Errorf("the link is lost: %s", out)
	}
	for url, want := range map[string]bool{
		picture(): true, "data:image/gif;base64,AAAA": true, "data:image/webp;base64,AAAA": true, "data:image/jpeg;base64,AAAA": true,
		"data:image/svg+xml;base64,AAAA": false, "data:text/html;base64,AAAA": false, "https://example.org/x.png": false,
		"data:image/png;base64,": false, "data:image/png;base64,A\" onerror=\"x": false, "data:image/png,AAAA": false, "": false,
	} {
		if _, ok := bitmap(url); ok != want {
			t.Errorf("bitmap(%.40q) is %v", url, ok)
		}
		out := render(t, block(view.Block{Kind: "image", Image: url}, 0))
		if strings.Contains(out, "<img") != want {
			t.Errorf("%.40q: %.200s", url, out)
		}
	}
}

func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, line, lines string }{
		{"", "", ""},
		{"plain äöü 漢字 עברית", "plain äöü 漢字 עברית", "plain äöü 漢字 עברית"},
		{"a\nb\tc", "a⟨LF⟩b⟨TAB⟩c", "a\nb\tc"},
		{"a\r\n", "a⟨CR⟩⟨LF⟩", "a⟨CR⟩\n"},
		{"\u202eabc\u202c", "⟨RLO⟩abc⟨PDF⟩", "⟨RLO⟩abc⟨PDF⟩"},
		{"\ufeffx\u200b", "⟨BOM⟩x⟨ZWSP⟩", "⟨BOM⟩x⟨ZWSP⟩"},
		{"\x00\x00\x00", "⟨NUL⟩⟨NUL⟩⟨NUL⟩", "⟨NUL⟩⟨NUL⟩⟨NUL⟩"},
		{strings.Repeat("\x00", 1000) + "!", "⟨NUL×1000⟩!", "⟨NUL×1000⟩!"},
		{"\xff\xc3(", "⟨0xFF⟩⟨0xC3⟩(", "⟨0xFF⟩⟨0xC3⟩("},
		{"\ufffd", "\ufffd", "\ufffd"},
		{"\u0085\u00ad\u3164\U000e0041\ufe01", "⟨NEL⟩⟨SHY⟩⟨U+3164⟩⟨U+E0041⟩⟨U+FE01⟩", "⟨NEL⟩⟨SHY⟩⟨U+3164⟩⟨U+E0041⟩⟨U+FE01⟩"},
	} {
		if got := spell(Visible(c.in)); got != c.line {
			t.Errorf("Visible(%q) = %q, want %q", c.in, got, c.line)
		}
		if got := spell(VisibleLines(c.in)); got != c.lines {
			t.Errorf("VisibleLines(%q) = %q, want %q", c.in, got, c.lines)
		}
		if got := plain(c.in); got != c.lines {
			t.Errorf("plain(%q) = %q, want %q", c.in, got, c.lines)
		}
	}
}

func spell(runs []Run) string {
	var b strings.Builder
	for _, r := range runs {
		if r.Name != "" {
			b.WriteString("⟨" + r.Name + "⟩")
		}
		b.WriteString(r.Text)
	}
	return b.String()
}

// Small components in full, so that a change of the markup is seen where it is reviewed.
func TestGolden(t *testing.T) {
	window := inventedRollouts().Table
	window.From, window.Rows = 120, window.Rows[4:6]
	window.Rows[0].Index, window.Rows[1].Index = 120, 121
	window.Columns = window.Columns[:6]
	health := inventedHealth()
	for name, c := range map[string]templ.Component{
		"table":    table(window),
		"rows":     WindowRows(window),
		"share":    legend(health.Shares),
		"stack":    stack(health.Shares, 14),
		"chart":    chart(view.Chart{ID: "calls", Title: "failed calls", Caption: "74 of 74", Kind: "bars", Bins: bins([]string{"1", "2"}, nil, 52, 0)}, smallChart),
		"alert":    alert(inventedAlerts()[0]),
		"fact":     strip(health.Facts[:1]),
		"block":    block(inventedRollout().Blocks[1], 5),
		"landing":  landing(inventedLanding().Landing),
		"progress": progress(view.Page{Progress: &view.Progress{Name: "rollouts.jsonl", Percent: 42, Bytes: view.Text{Text: "1 of 2 bytes"}}}),
		"raw":      WindowLines(view.Raw{From: 7, Lines: inventedRaw().Raw.Lines[3:6]}),
		"keys":     Keys(commands[:2]),
		"filter":   filterField(view.FilterBar{Text: "agnet:x", Error: "there is no field agnet", ErrorAt: 0, Fix: view.Link{Text: "agent", Href: "#filter=agent:x"}, Count: "9 of 9", Unit: "rollouts"}),
		"offers":   Offers(view.Offers{Items: []offered.Item{{Insert: "verdict:", Label: ":", Title: "is, or is one of", Class: "operator"}}}),
		"chooser":  chooser(inventedChooser()),
		"grid":     table(inventedGrid()),
		"calls":    callsPart(inventedCalls().Calls),
		"timeline": timeline(inventedTimeline()),
		"tokens":   tokensPart(inventedTokens().Tokens),
		"agents":   agents(inventedTokens().Tree),
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.ReplaceAll(render(t, c), "><", ">\n<") + "\n"
			file := filepath.Join("testdata", name+".html")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("differs from %s (-update writes it anew):\n%s", file, firstDifference(string(want), got))
			}
		})
	}
}

// The drawing of a chart stands in a file of its own when it is downloaded, so it has to be XML.
func TestDrawingsAreXML(t *testing.T) {
	for _, in := range invented() {
		for _, part := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(render(t, content(in.page)), -1) {
			if strings.Count(part, "<svg") != 1 {
				continue // one inside another: the pattern cuts it
			}
			d := xml.NewDecoder(strings.NewReader(part))
			for {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%s: %v in %s", in.name, err, part)
				}
			}
		}
	}
}

// A chart in a file of its own is XML with its colours in it, leads nowhere and keeps what it is given.
func TestChartFile(t *testing.T) {
	for _, in := range invented() {
		if in.page.Rollouts == nil {
			continue
		}
		for _, c := range in.page.Rollouts.Charts {
			href := c.Bins[0].Href
			c.Title += hostile[0]
			light, dark := render(t, ChartFile(c, false)), render(t, ChartFile(c, true))
			for _, out := range []string{light, dark} {
				d := xml.NewDecoder(strings.NewReader(out))
				for {
					if _, err := d.Token(); err == io.EOF {
						break
					} else if err != nil {
						t.Fatalf("%s: %v in %s", c.ID, err, out)
					}
				}
				for _, bad := range []string{"href", "var(", "--", "<script", ":;", ":}"} {
					if strings.Contains(out, bad) {
						t.Errorf("%s: %s in %s", c.ID, bad, out)
					}
				}
			}
			if !strings.Contains(light, "#ffffff") || !strings.Contains(dark, "#14171a") || c.Bins[0].Href != href {
				t.Errorf("%s: a theme or a link is lost", c.ID)
			}
		}
	}
}

func TestSameBytes(t *testing.T) {
	for i, in := range invented() {
		again := invented()[i]
		if render(t, Document(in.page, DocumentOptions{})) != render(t, Document(again.page, DocumentOptions{})) {
			t.Errorf("%s differs from one time to the next", in.name)
		}
	}
}

func TestInlinedTextsCannotEndEarly(t *testing.T) {
	for _, o := range []DocumentOptions{{Script: "x</ScRipt>"}, {Style: "a</style >"}, {Script: "<!--<script>"}} {
		if err := Document(view.Page{}, o).Render(t.Context(), io.Discard); err == nil {
			t.Errorf("%+v was written", o)
		}
	}
	out := render(t, Document(view.Page{}, DocumentOptions{Script: `"<" + '&'`, Style: `a > b { content: "<" }`}))
	for _, want := range []string{`<script>"<" + '&'</script>`, `<style>a > b { content: "<" }</style>`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not there as it was given", want)
		}
	}
}

func BenchmarkWindowRows(b *testing.B) {
	window := inventedRollouts().Table
	b.ReportAllocs()
	for b.Loop() {
		if err := WindowRows(window).Render(b.Context(), io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
