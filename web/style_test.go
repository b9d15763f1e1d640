package web

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestStylesheet(t *testing.T) {
	css := string(Stylesheet())
	if len(css) > 64<<10 {
		t.Errorf("%d bytes", len(css))
	}
	if strings.Count(css, "{") != strings.Count(css, "}") {
		t.Error("braces do not match")
	}
	for _, bad := range []string{"@import", "url(", "!important", "http:", "https:"} {
		if strings.Contains(css, bad) {
			t.Errorf("%s in the stylesheet", bad)
		}
	}
	defined := map[string]bool{}
	for _, m := range regexp.MustCompile(`(--[a-z0-9-]+):`).FindAllStringSubmatch(css, -1) {
		defined[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`var\((--[a-z0-9-]+)\)`).FindAllStringSubmatch(css, -1) {
		if !defined[m[1]] {
			t.Errorf("%s is used and not defined", m[1])
		}
	}
	tokens, _ := sheets.ReadFile("css/tokens.css")
	rest := strings.TrimPrefix(css, string(tokens))
	for _, m := range regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b[;,) ]`).FindAllString(rest, -1) {
		t.Errorf("colour %s outside tokens.css", m)
	}
}

// themes reads the blocks of tokens.css: light, dark by the system, dark by choice.
func themes(t *testing.T) (blocks [3]map[string]string) {
	t.Helper()
	css, err := sheets.ReadFile("css/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile(`(?s):root[^{]*\{([^}]*)\}`).FindAllStringSubmatch(string(css), -1)
	if len(parts) != len(blocks) {
		t.Fatalf("%d blocks", len(parts))
	}
	for i, p := range parts {
		blocks[i] = map[string]string{}
		for _, m := range regexp.MustCompile(`(--[a-z0-9-]+|color-scheme): ([^;]+);`).FindAllStringSubmatch(p[1], -1) {
			blocks[i][m[1]] = m[2]
		}
	}
	return blocks
}

func TestDarkIsOneTheme(t *testing.T) {
	b := themes(t)
	for name, value := range b[0] {
		if _, dark := b[1][name]; !dark && strings.HasPrefix(value, "#") {
			t.Errorf("%s has no dark value", name)
		}
	}
	for name, value := range b[1] {
		if b[2][name] != value {
			t.Errorf("%s is %s by the system and %s by choice", name, value, b[2][name])
		}
		if _, light := b[0][name]; !light {
			t.Errorf("%s has no light value", name)
		}
	}
	if len(b[1]) != len(b[2]) {
		t.Error("the dark blocks differ in names")
	}
}

// Text reaches 4.5 on what it stands on, marks and edges reach 3.
func TestContrast(t *testing.T) {
	b := themes(t)
	for i, name := range []string{"light", "dark"} {
		theme := b[i]
		for _, c := range []struct {
			on    string
			least float64
			what  string
		}{
			{"--bg", 4.5, "--fg --muted --accent --healthy --unhealthy --unobserved --omitted --failed --unknown --measured --s1 --s2 --s3 --s4"},
			{"--bg-2", 4.5, "--fg --muted --accent --s4"},
			{"--code", 4.5, "--fg --muted --accent"},
			{"--accent-bg", 4.5, "--fg --muted --accent --unhealthy --unobserved"},
			{"--unhealthy-bg", 4.5, "--fg --muted --unhealthy --accent"},
			{"--solved", 4.5, "--fg"},
			{"--accent", 4.5, "--accent-fg"},
			{"--bg", 3, "--edge --bar --masked --unscored"},
			{"--bg-3", 3, "--bar --unhealthy --failed --s4"},
			{"--accent-bg", 3, "--masked --unscored"},
			{"--t1", 4.5, "--fg"}, {"--t2", 4.5, "--fg"}, {"--t3", 4.5, "--fg"}, {"--t4", 4.5, "--fg"},
			{"--t3", 3, "--s2"}, {"--t4", 3, "--unhealthy"},
		} {
			for what := range strings.FieldsSeq(c.what) {
				if r := contrast(theme[what], theme[c.on]); r < c.least {
					t.Errorf("%s: %s on %s is %.2f, at least %.1f", name, what, c.on, r, c.least)
				}
			}
		}
	}
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(hex string) float64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil {
		return math.NaN()
	}
	part := func(shift uint) float64 {
		c := float64(n>>shift&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

// Every class of the stylesheet is one that markup can have: rules for nothing are not kept.
func TestRulesHaveUses(t *testing.T) {
	var source strings.Builder
	for _, pattern := range []string{"*.templ", "*.go", "assets/*.js", "bundle/*.templ"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(b)
		}
	}
	text := source.String()
	made := map[string]bool{} // class names that are put together
	for m := range shapes {
		made[string(m)], made["m-"+string(m)] = true, true
	}
	for _, h := range heights {
		made["h"+strconv.Itoa(h)] = true
	}
	for _, m := range regexp.MustCompile(`\.([a-z][a-z0-9-]*)`).FindAllStringSubmatch(strings.ReplaceAll(string(Stylesheet()), ".5px", ""), -1) {
		class := m[1]
		if made[class] {
			continue
		}
		whole := regexp.MustCompile(`\b` + class + `\b`).MatchString(text)
		// "j-" and the like are put in front of a word of the model.
		front := strings.LastIndexByte(class, '-') + 1
		if !whole && (front == 0 || !strings.Contains(text, `"`+class[:front])) {
			t.Errorf("class %s is not used", class)
		}
	}
}

// The generated files are those of the components beside them.
func TestGeneratedFilesAreFresh(t *testing.T) {
	tools, err := filepath.Abs("../tools")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var sources []string
	for _, pattern := range []string{"*.templ", "*/*.templ"} {
		found, _ := filepath.Glob(pattern)
		sources = append(sources, found...)
	}
	if len(sources) == 0 {
		t.Fatal("no components")
	}
	for _, f := range sources {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "tool", "templ", "generate", "-path", dir)
	cmd.Dir = tools
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, f := range sources {
		name := strings.TrimSuffix(f, ".templ") + "_templ.go"
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != string(want) {
			t.Errorf("%s is not what %s gives: run make generate", name, f)
		}
	}
}
