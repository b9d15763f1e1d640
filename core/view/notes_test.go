package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/runfolder"
)

// noteRuns are two files: tasks 1 to 3 with two repeats each, task "7" beside task 7, one of them twice, and a line
// that cannot be read.
func noteRuns(t *testing.T) *Desk {
	t.Helper()
	row := func(task string, repeat int) string {
		return fmt.Sprintf(`{"_ng_task_index":%s,"_ng_rollout_index":%d,"reward":1.0,"agent_ref":{"name":"a"},"response":{"output":[]}}`, task, repeat)
	}
	var lines []string
	for task := 1; task <= 3; task++ {
		for repeat := range 2 {
			lines = append(lines, row(fmt.Sprint(task), repeat))
		}
	}
	lines = append(lines, row("7", 0), row("7", 0), `{"_ng_task_index":`, row("9", 0))
	data := map[string][]byte{"a/rollouts.jsonl": []byte(strings.Join(lines, "\n") + "\n"), "b/rollouts.jsonl": []byte(row("2", 1) + "\n" + row("1", 0) + "\n")}
	var files []runfolder.File
	for _, name := range []string{"a/rollouts.jsonl", "b/rollouts.jsonl"} {
		files = append(files, runfolder.File{Path: name, Size: int64(len(data[name]))})
	}
	return openDesk(t, files, data)
}

// placed lists which rows the notes are on.
func placed(d *Desk, fragment string) string {
	s, _ := d.Read(fragment, Host{})
	var list []string
	for _, n := range d.Noted(s) {
		if n.Rollout == "" {
			n.Rollout = "nowhere"
		}
		list = append(list, n.Text+" "+n.Rollout)
	}
	return strings.Join(list, ", ")
}

func TestNotesFindTheirRows(t *testing.T) {
	d := noteRuns(t)
	const a, b = "a/rollouts.jsonl", "b/rollouts.jsonl"
	for _, c := range []struct {
		name, fragment string
		notes          []Note
		want           string
	}{
		{"by their lines", "", []Note{{File: 0, Line: 3, Task: "2", Repeat: "0", Text: "x"}, {File: 1, Line: 1, Task: "2", Repeat: "1", Text: "y"}}, "x " + a + ":3, y " + b + ":1"},
		{"the second of two that are alike", "", []Note{{File: 0, Line: 8, Task: "7", Repeat: "0", Text: "x"}}, "x " + a + ":8"},
		{"a line that cannot be read", "", []Note{{File: 0, Line: 9, Text: "x"}}, "x " + a + ":9"},
		{"a line without a row", "", []Note{{File: 0, Line: 99, Text: "x"}}, "x nowhere"},
		{"by task and repeat where the line is another row", "", []Note{{File: 0, Line: 1, Task: "3", Repeat: "1", Text: "x"}, {File: 1, Line: 1, Task: "1", Repeat: "0", Text: "y"}}, "x " + a + ":6, y " + b + ":2"},
		{"two of the same rollout on both of its rows", "", []Note{{File: 0, Line: 50, Task: "7", Repeat: "0", Text: "x"}, {File: 0, Line: 51, Task: "7", Repeat: "0", Text: "y"}}, "x " + a + ":7, y " + a + ":8"},
		{"a text is no number", "", []Note{{File: 0, Line: 50, Task: `"7"`, Repeat: "0", Text: "x"}}, "x nowhere"},
		{"a task that is gone", "", []Note{{File: 1, Line: 1, Task: "9", Repeat: "0", Text: "x"}}, "x nowhere"},
		{"no such file", "", []Note{{File: 7, Line: 1, Task: "9", Repeat: "0", Text: "x"}, {File: -1, Line: 1, Text: "y"}}, "x nowhere, y nowhere"},
		{"a file that is left out", "drop=b/rollouts.jsonl", []Note{{File: 1, Line: 1, Task: "2", Repeat: "1", Text: "x"}}, "x nowhere"},
		{"the own one before that of another version", "", []Note{{File: 0, Line: 3, Task: "2", Repeat: "0", Text: "x", Other: true}, {File: 0, Line: 3, Task: "2", Repeat: "0", Text: "y"}}, "x nowhere, y " + a + ":3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.Note(c.notes, false)
			if got := placed(d, c.fragment); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestNotesChange(t *testing.T) {
	d := noteRuns(t)
	shown := func(fragment string, want int) {
		t.Helper()
		p, _ := page(t, d, fragment)
		if p.Filter.Error != "" || p.Filter.Shown != want {
			t.Errorf("%s shows %d, want %d %s", fragment, p.Filter.Shown, want, p.Filter.Error)
		}
	}
	shown("tab=rollouts&filter=has(note)", 0)
	d.Note([]Note{{File: 0, Line: 3, Task: "2", Repeat: "0", Text: "Loops for ever.\nAsk Kim."}}, true)
	shown("tab=rollouts&filter=has(note)", 1)
	shown("tab=rollouts&filter=note~Kim", 1)
	shown("tab=rollouts&filter=not has(note) and file:a/rollouts.jsonl", 9)
	d.Note([]Note{{File: 0, Line: 4, Task: "2", Repeat: "1", Text: "also"}, {File: 0, Line: 3, Task: "2", Repeat: "0", Text: "solved"}}, true)
	shown("tab=rollouts&filter=note~Kim", 0)
	shown("tab=tasks&filter=has(note)", 2)
	p, _ := page(t, d, "tab=tasks&filter=has(note)")
	if n := len(p.Tasks.Table.Rows); n != 1 || p.Tasks.Table.Rows[0].Cells[0].Note != "2 notes, the first: solved" {
		t.Errorf("%d tasks, the mark says %q", n, p.Tasks.Table.Rows[0].Cells[0].Note)
	}
	p, _ = page(t, d, "tab=rollouts&sort=note&columns=task,note")
	if row := p.Rollouts.Table.Rows[0]; row.Rollout != "a/rollouts.jsonl:4" || row.Cells[0].Note != "also" || row.Cells[1].Text.Text != "also" {
		t.Errorf("the first by note is %+v", row)
	}
	if n := p.Rollouts.Table.Rows[2].Cells[0].Note; n != "" {
		t.Errorf("a row without a note says %q", n)
	}
	d.Note([]Note{{File: 0, Line: 4}, {File: 0, Line: 5}}, true)
	shown("tab=rollouts&filter=has(note)", 1)

	// What it says of itself on the page of its row.
	s, _ := d.Read("rollout=a/rollouts.jsonl:3", Host{})
	p, _ = d.Page(s, Host{}, nil)
	if f := p.Rollout.Note; f == nil || *f != (NoteField{File: 0, Line: 3, Task: "2", Repeat: "0", Words: "solved"}) {
		t.Errorf("the field is %+v", f)
	}
	d.Note([]Note{{File: 0, Line: 6, Task: "2", Repeat: "0", Text: "older", Other: true}}, false)
	if p, _ = d.Page(s, Host{}, nil); p.Rollout.Note.Other != "older" {
		t.Errorf("the field is %+v", p.Rollout.Note)
	}
	s, _ = d.Read("rollout=a/rollouts.jsonl:9", Host{})
	if p, _ = d.Page(s, Host{}, nil); *p.Rollout.Note != (NoteField{Line: 9}) {
		t.Errorf("the field of a refused line is %+v", p.Rollout.Note)
	}
	// Other files have no notes.
	d.Open([]runfolder.File{{Path: "c/rollouts.jsonl", Size: 1}}, false)
	if got := placed(d, ""); got != "" {
		t.Errorf("other files have the notes %s", got)
	}
}

// A tab that the files have no evidence for is said to be missing, and nothing else is.
func TestAbsentTab(t *testing.T) {
	d := deskOf(t, "rollouts.jsonl", []byte(`{"_ng_task_index":1,"_ng_rollout_index":0}`+"\n"))
	for d.AuditPending() {
		d.Audit()
	}
	for fragment, want := range map[string]bool{"": false, "tab=overview": false, "tab=health": false, "tab=compare": true, "tab=compare&rollout=rollouts.jsonl:1": false} {
		s, _ := d.Read(fragment, Host{})
		p, _ := d.Page(s, Host{}, nil)
		said := false
		for _, a := range p.Alerts {
			said = said || strings.Contains(a.Text, "no evidence for the Compare tab; Overview is shown")
		}
		if said != want {
			t.Errorf("%s: said %v, want %v", fragment, said, want)
		}
	}
}
