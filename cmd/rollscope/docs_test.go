package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/core/view/filter"
)

// top is the top of the project.
const top = "../.."

// A page of the manual, cut into what the tests look at.
type manual struct {
	name   string // from the top of the project, with slashes
	prose  []located
	fences []fence
	heads  map[string]bool // anchors of its headings
}

// A located is a line of text.
type located struct {
	line int
	text string
}

// A fence is a block of code.
type fence struct {
	line  int // of its first line
	lang  string
	lines []string
}

// manuals reads every document of the project.
func manuals(t *testing.T) []*manual {
	t.Helper()
	names := []string{"README.md", "ARCHITECTURE.md", "RATIONALE.md"}
	err := filepath.WalkDir(filepath.Join(top, "docs"), func(file string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(file) == ".md" {
			name, err := filepath.Rel(top, file)
			names = append(names, filepath.ToSlash(name))
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var list []*manual
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, readManual(name, string(text)))
	}
	return list
}

func readManual(name, text string) *manual {
	m := &manual{name: name, heads: map[string]bool{}}
	var open *fence
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```") && open == nil:
			m.fences = append(m.fences, fence{line: i + 2, lang: strings.TrimPrefix(line, "```")})
			open = &m.fences[len(m.fences)-1]
		case strings.HasPrefix(line, "```"):
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		default:
			m.prose = append(m.prose, located{i + 1, line})
			if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
				m.heads[anchor(title)] = true
			}
		}
	}
	return m
}

// anchor is what a heading is linked by.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(title))
}

var (
	links = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	spans = regexp.MustCompile("`([^`]+)`")
)

// Every link of a document leads somewhere, and so does every picture.
func TestDocsLinks(t *testing.T) {
	all := manuals(t)
	for _, m := range all {
		for _, l := range m.prose {
			for _, found := range links.FindAllStringSubmatch(spans.ReplaceAllString(l.text, ""), -1) {
				target, part, _ := strings.Cut(found[1], "#")
				if strings.Contains(target, "://") {
					continue
				}
				name := m.name
				if target != "" {
					name = path.Join(path.Dir(m.name), target)
				}
				if _, err := os.Stat(filepath.Join(top, name)); err != nil {
					t.Errorf("%s:%d: %s is not there", m.name, l.line, found[1])
				}
				if part == "" {
					continue
				}
				if i := slices.IndexFunc(all, func(m *manual) bool { return m.name == name }); i < 0 || !all[i].heads[part] {
					t.Errorf("%s:%d: %s has no heading for #%s", m.name, l.line, name, part)
				}
			}
		}
	}
}

// Every tab has its page with a picture, and there is no page of anything else.
func TestDocsTabs(t *testing.T) {
	pages := map[string]*manual{}
	for _, m := range manuals(t) {
		if path.Dir(m.name) == "docs/tabs" {
			pages[strings.TrimSuffix(path.Base(m.name), ".md")] = m
		}
	}
	known := map[string]bool{"rollout": true, "search": true} // the page of one of them, and what stands beside the tabs
	for _, tab := range view.Tabs {
		known[tab.ID] = true
	}
	for id := range known {
		switch page := pages[id]; {
		case page == nil:
			t.Errorf("there is no docs/tabs/%s.md", id)
		case !slices.ContainsFunc(page.prose, func(l located) bool { return strings.HasPrefix(l.text, "![") }):
			t.Errorf("%s has no picture", page.name)
		}
	}
	for id, page := range pages {
		if !known[id] {
			t.Errorf("%s is about no tab", page.name)
		}
	}
}

// Every command stands in a document, and what documents say of a command is there: its name and its flags.
func TestDocsNameCommands(t *testing.T) {
	root := newRoot(withPage(page))
	var text strings.Builder
	for _, m := range manuals(t) {
		check := func(line int, command string) {
			if problem := unknownIn(root, command); problem != "" {
				t.Errorf("%s:%d: %s: %s", m.name, line, command, problem)
			}
		}
		for _, l := range m.prose {
			text.WriteString(l.text + "\n")
			for _, found := range spans.FindAllStringSubmatch(l.text, -1) {
				check(l.line, found[1])
			}
		}
		for _, f := range m.fences {
			for i, line := range f.lines {
				text.WriteString(line + "\n")
				check(f.line+i, strings.TrimPrefix(strings.TrimSpace(line), "$ "))
			}
		}
	}
	var each func(*cobra.Command)
	each = func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "rollscope ")
		if c.HasParent() && !regexp.MustCompile(`\b`+name+`\b`).MatchString(text.String()) {
			t.Errorf("no document names the command %s", name)
		}
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(root)
}

// unknownIn says what is wrong with a command line of this program.
func unknownIn(root *cobra.Command, line string) string {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "rollscope" && words[0] != "./rollscope" {
		return ""
	}
	cmd := root
	for i, word := range words[1:] {
		if i < 2 && cmd.HasSubCommands() && !strings.HasPrefix(word, "-") && strings.ToLower(word) == word && word != "…" {
			next := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == word })
			switch {
			case next >= 0:
				cmd = cmd.Commands()[next]
				continue
			case cmd == root:
				return "there is no command " + word
			}
		}
		if name, isFlag := strings.CutPrefix(word, "--"); isFlag {
			name, _, _ = strings.Cut(name, "=")
			cmd.InitDefaultHelpFlag()
			cmd.InitDefaultVersionFlag()
			if cmd.Flags().Lookup(strings.TrimRight(name, ",.;:)")) == nil {
				return "there is no flag --" + name
			}
		}
	}
	return ""
}

// What looks like a filter in the tutorial and the instructions is one.
func TestDocsFilters(t *testing.T) {
	fields := view.FilterFields()
	var names []string
	for _, f := range fields {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			names = append(names, regexp.QuoteMeta(name))
		}
	}
	begins := regexp.MustCompile(`^(not )?((any|all|count|has)\(|(row|\$)\.\w|-?(` + strings.Join(names, "|") + `)( ?(:|=|!=|<|>|~)|( not)? in \(| matches ))`)
	parsed := 0
	for _, m := range manuals(t) {
		if !strings.HasPrefix(m.name, "docs/tabs/") && m.name != "docs/tutorial.md" && m.name != "docs/howto.md" {
			continue
		}
		parse := func(line int, text string) {
			parsed++
			if _, err := filter.Parse(text, fields); err != nil {
				t.Errorf("%s:%d: %s: %v", m.name, line, text, err)
			}
		}
		for _, l := range m.prose {
			for _, found := range spans.FindAllStringSubmatch(l.text, -1) {
				if begins.MatchString(found[1]) {
					parse(l.line, found[1])
				}
			}
		}
		for _, f := range m.fences {
			if f.lang == "filter" {
				for i, line := range f.lines {
					parse(f.line+i, line)
				}
			}
		}
	}
	if parsed < 10 {
		t.Errorf("only %d filters were found", parsed)
	}
}

// The commands of the tutorial and the instructions do what is shown below them. Those of one document run one after
// the other at a place where the project is.
func TestDocsCommands(t *testing.T) {
	for _, m := range manuals(t) {
		if m.name != "docs/tutorial.md" && m.name != "docs/howto.md" {
			continue
		}
		t.Run(path.Base(m.name), func(t *testing.T) {
			t.Parallel()
			place := t.TempDir()
			for _, name := range []string{"cmd", "core", "server", "testdata", "web", "go.mod", "go.sum"} {
				whole, err := filepath.Abs(filepath.Join(top, name))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(whole, filepath.Join(place, name)); err != nil {
					t.Fatal(err)
				}
			}
			ran := 0
			for _, f := range m.fences {
				if f.lang != "console" && f.lang != "sh" {
					continue
				}
				for _, c := range f.commands() {
					ran++
					output, err := c.run(place)
					if err != nil {
						t.Errorf("%s:%d: %s: %v\n%s", m.name, c.line, c.text, err, output)
					}
					if !c.shown {
						continue
					}
					if want := strings.Join(c.output, "\n"); !like(want, strings.TrimRight(output, "\n")) {
						t.Errorf("%s:%d: %s says\n%s\nthe document says\n%s", m.name, c.line, c.text, output, want)
					}
				}
			}
			if ran < 10 {
				t.Errorf("%d commands were run", ran)
			}
		})
	}
}

// A documented is a command of a document with what it is said to print.
type documented struct {
	line   int
	text   string
	shown  bool
	output []string
}

// commands gives the commands of a block. In a block of the language console they stand behind "$ ", with what they
// print below; in one of the language sh every line is one.
func (f *fence) commands() (list []documented) {
	for i, line := range f.lines {
		command, is := strings.CutPrefix(line, "$ ")
		switch {
		case f.lang == "sh" && line != "" && line[0] != '#':
			list = append(list, documented{line: f.line + i, text: line})
		case f.lang == "sh":
		case is:
			list = append(list, documented{line: f.line + i, text: command, shown: true})
		case len(list) > 0:
			c := &list[len(list)-1]
			c.output = append(c.output, line)
		}
	}
	return list
}

// run runs a command in a shell, in a folder. What ends with a server is started, asked for its address and stopped.
func (c *documented) run(place string) (string, error) {
	if strings.HasPrefix(c.text, "rollscope view") || strings.HasPrefix(c.text, "rollscope serve") {
		return "", c.serve(place)
	}
	cmd := exec.Command("sh", "-c", c.text)
	cmd.Dir = place
	output, err := cmd.CombinedOutput()
	return string(output), err
}

func (c *documented) serve(place string) error {
	words := append(strings.Fields(c.text), "--addr", "127.0.0.1:0")
	if words[1] == "view" {
		words = append(words, "--no-open", "--print-url")
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = place
	out, err := cmd.StdoutPipe()
	if words[1] == "serve" {
		out, err = cmd.StderrPipe()
	}
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	line, readErr := bufio.NewReader(out).ReadString('\n')
	rest, stopErr := io.Discard, cmd.Process.Signal(os.Interrupt)
	io.Copy(rest, out)
	if !strings.Contains(line, "http://") {
		readErr = errors.Join(readErr, fmt.Errorf("no address in %q", line))
	}
	return errors.Join(readErr, stopErr, cmd.Wait())
}

// like compares output with what a document shows of it: "…" stands for any part of a line, and alone on a line for any
// number of lines.
func like(want, got string) bool {
	var pattern strings.Builder
	pattern.WriteString(`^`)
	lines := strings.Split(want, "\n")
	for i, line := range lines {
		switch {
		case strings.TrimSpace(line) == "…":
			pattern.WriteString(`(?:[^\n]*\n)*?`)
			if i == len(lines)-1 {
				pattern.WriteString(`[^\n]*`)
			}
			continue
		default:
			for k, part := range strings.Split(strings.TrimRight(line, " "), "…") {
				if k > 0 {
					pattern.WriteString(`[^\n]*`)
				}
				pattern.WriteString(regexp.QuoteMeta(part))
			}
			pattern.WriteString(`[ \t]*`)
		}
		if i < len(lines)-1 {
			pattern.WriteString(`\n`)
		}
	}
	return regexp.MustCompile(pattern.String() + `$`).MatchString(got)
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		want, got string
		fits      bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "a", true}, {"a\nb", "a\nb", true}, {"a\nb", "a", false},
		{"a …", "a 17 b", true}, {"a … b", "a b", false}, {"a\n…", "a\nb\nc", true}, {"a\n…\nd", "a\nb\nc\nd", true},
		{"a\n…\nd", "a\nd", true}, {"a\n…\nd", "a\nb\nc", false}, {"a.b", "axb", false}, {"a", "a  ", true}, {"…", "", true},
	} {
		if like(c.want, c.got) != c.fits {
			t.Errorf("%q and %q: %v", c.want, c.got, !c.fits)
		}
	}
}

// The Go of the instructions is that of the example which the tests run.
func TestDocsGo(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(top, "core", "analysis", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for _, m := range manuals(t) {
		for _, f := range m.fences {
			if f.lang != "go" {
				continue
			}
			blocks++
			if text := strings.Join(f.lines, "\n"); !strings.Contains(string(source), text) {
				t.Errorf("%s:%d: this is not what core/analysis/example_test.go has:\n%s", m.name, f.line, text)
			}
		}
	}
	if blocks == 0 {
		t.Error("no document shows how the library is used")
	}
}
