package check

import "testing"

// TestDuplicateIdentity holds what a row says by itself: nothing. Groups of rows are the reduction's.
func TestDuplicateIdentity(t *testing.T) {
	runSamples(t, DuplicateIdentity, []sample{
		{"readable", `{}`, "clean", ""},
		{"unreadable", `{`, "line_unreadable", ""},
	})
	f := Duplicate(3)
	b, err := f.AppendJSON(nil)
	if want := `{"check":"rollout_duplicate_identity","detail":{"duplicate_count":3}}`; err != nil || string(b) != want {
		t.Errorf("%s %v", b, err)
	}
	if s := Sentence(f); s != "3 rows share this task, rollout and stage index" {
		t.Error(s)
	}
}
