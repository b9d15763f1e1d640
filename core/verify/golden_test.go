package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/recovery"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/store"
)

const goldens = "../../testdata/runs"

// A golden is a case of testdata/runs: a folder, options, and the four documents that must come of them.
type golden struct {
	dir  string
	spec struct {
		Title, Run string
		Args       []string
	}
}

func goldenCases(t *testing.T) []golden {
	t.Helper()
	found, err := filepath.Glob(goldens + "/*/case.json")
	if err != nil || len(found) != 39 {
		t.Fatalf("%d cases, %v", len(found), err)
	}
	var list []golden
	for _, p := range found {
		g := golden{dir: filepath.Dir(p)}
		if err := json.Unmarshal(read(t, p), &g.spec); err != nil {
			t.Fatal(err)
		}
		list = append(list, g)
	}
	return list
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// folderOf reads the files of a directory, as the command line does.
func folderOf(t testing.TB, dir string, deep bool) []File {
	t.Helper()
	files := []File{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != dir && !deep {
				return filepath.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		files = append(files, File{filepath.ToSlash(name), source.Bytes(name, read(t, p))})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// open gives the files and options of a case.
func (g *golden) open(t *testing.T) ([]File, Options) {
	t.Helper()
	o := Options{Observe: true}
	for args := g.spec.Args; len(args) > 0; {
		name := args[0]
		if name == "--retry-terminal-timeouts" {
			yes := true
			o.Override = &yes
			args = args[1:]
			continue
		}
		given := args[1]
		args = args[2:]
		switch file := filepath.Join(g.dir, given); name {
		case "--max-attempts":
			if err := json.Unmarshal([]byte(given), &o.MaxAttempts); err != nil {
				t.Fatal(err)
			}
		case "--source":
			o.Source = store.Sum(read(t, file))
		case "--current":
			var c map[string]string
			if err := json.Unmarshal(read(t, file), &c); err != nil {
				t.Fatal(err)
			}
			o.Current = &recovery.Current{Source: c["source_digest"], Materialized: c["materialized_digest"], Config: c["config_digest"]}
		case "--config":
			var ok bool
			if o.Config, ok = recovery.ReadConfig(read(t, file)); !ok {
				t.Fatal("no configuration")
			}
		default:
			t.Fatalf("option %s", name)
		}
	}
	dir := filepath.Join(g.dir, g.spec.Run)
	if info, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	} else if info.IsDir() {
		return folderOf(t, dir, true), o
	}
	o.Only = path.Base(g.spec.Run)
	return folderOf(t, filepath.Dir(dir), false), o
}

// documents writes the four documents of a report.
func documents(t testing.TB, r *Report) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"verify":   func(b *bytes.Buffer) error { return r.WriteVerify(b) },
		"coverage": func(b *bytes.Buffer) error { return r.WriteCoverage(b) },
		"records":  func(b *bytes.Buffer) error { return r.WriteRecords(b, nil) },
		"batch":    func(b *bytes.Buffer) error { return r.WriteBatch(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		out[name] = b.Bytes()
	}
	return out
}

// decode reads a document with exact numbers, without the members whose wording is free.
func decode(t testing.TB, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %.300s", err, b)
	}
	return worded(v)
}

func worded(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "message")
		delete(v, "severity")
		for k := range v {
			v[k] = worded(v[k])
		}
	case []any:
		for i := range v {
			v[i] = worded(v[i])
		}
	}
	return v
}

// TestGoldens holds every case against the documents of the reference.
func TestGoldens(t *testing.T) {
	for _, g := range goldenCases(t) {
		t.Run(filepath.Base(g.dir), func(t *testing.T) {
			files, o := g.open(t)
			report, err := Run(context.Background(), files, o)
			if err != nil {
				t.Fatal(err)
			}
			for name, got := range documents(t, report) {
				want := decode(t, read(t, filepath.Join(g.dir, "expected", name+".json")))
				if have := decode(t, got); !reflect.DeepEqual(have, want) {
					t.Errorf("%s: %s", name, difference(want, have, "$"))
				}
				if !strings.HasSuffix(string(got), "}\n") || bytes.Count(got, []byte("\n")) != 1 {
					t.Errorf("%s is not one line", name)
				}
			}
		})
	}
}

// difference tells where two documents first differ.
func difference(want, have any, at string) string {
	text := func(v any) string {
		b, _ := json.Marshal(v)
		if len(b) > 300 {
			b = append(b[:300], "…"...)
		}
		return string(b)
	}
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			break
		}
		for k := range w {
			if _, there := h[k]; !there {
				return at + "." + k + " is missing"
			}
			if !reflect.DeepEqual(w[k], h[k]) {
				return difference(w[k], h[k], at+"."+k)
			}
		}
		return at + " has more: " + text(h)
	case []any:
		h, ok := have.([]any)
		if !ok {
			break
		}
		for i := range w {
			if i == len(h) {
				return at + " lacks " + text(w[i])
			}
			if !reflect.DeepEqual(w[i], h[i]) {
				return difference(w[i], h[i], at+"["+string(rune('0'+i%10))+"]")
			}
		}
		return at + " has more: " + text(h[len(w):])
	}
	return at + " is " + text(have) + ", want " + text(want)
}
