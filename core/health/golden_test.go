package health

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGolden holds both reports and the printed lines to those of the reference, byte for byte.
func TestGolden(t *testing.T) {
	for _, folder := range cases(t) {
		var spec struct {
			Steps []struct {
				Files    []string
				Ignored  []string
				Expected string
			}
		}
		content, err := os.ReadFile(filepath.Join(folder, "case.json"))
		if err == nil {
			err = json.Unmarshal(content, &spec)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range spec.Steps {
			t.Run(filepath.Base(folder)+"/"+step.Expected, func(t *testing.T) {
				expected := filepath.Join(folder, "expected", step.Expected)
				var files []file
				for _, name := range step.Files {
					data, err := os.ReadFile(filepath.Join(folder, "input", name))
					if os.IsNotExist(err) && has(expected, "health_error.json") {
						return // finding no file is the host's business
					}
					if err != nil {
						t.Fatal(err)
					}
					files = append(files, file{name, data})
				}
				report, err := reduce(mapFiles(files...), Options{Ignored: step.Ignored})
				if has(expected, "health_error.json") {
					if err == nil {
						t.Fatal("no error where the reference stops")
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				compare(t, filepath.Join(expected, SummaryFile), summaryOf(t, report))
				compare(t, filepath.Join(expected, VerdictsFile), verdictsOf(t, report))
				compare(t, filepath.Join(expected, "health_stdout.txt"), report.Text(SummaryFile))
			})
		}
	}
}

// cases lists the folders of the cases.
func cases(t testing.TB) []string {
	found, err := filepath.Glob(filepath.Join("..", "..", "testdata", "health", "*", "case.json"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found
}

func has(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

func compare(t *testing.T, path, have string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(content)
	if have == want {
		return
	}
	a, b := strings.SplitAfter(want, "\n"), strings.SplitAfter(have, "\n")
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			t.Fatalf("%s: line %d is too much: %s", filepath.Base(path), i+1, b[i])
		case i >= len(b):
			t.Fatalf("%s: line %d is missing: %s", filepath.Base(path), i+1, a[i])
		case a[i] != b[i]:
			t.Fatalf("%s: line %d\nwant %s\nhave %s", filepath.Base(path), i+1, a[i], b[i])
		}
	}
}
