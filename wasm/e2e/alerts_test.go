package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// picture is the beginning of an image file.
const picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"

// TestAlerts gives the page input that cannot be used as it is: each has its message, and everything else is there.
func TestAlerts(t *testing.T) {
	p := open(t, "#tab=health")
	for _, c := range []struct {
		name  string
		files map[string]string
		codes []string          // of the messages, sorted
		says  []string          // in one of them
		stats map[string]string // beside those that the command's report has
	}{
		{
			name:  "torn tail",
			files: map[string]string{"rollouts.jsonl": rows(2) + `{"_ng_task_index":2,"text":"cut h`},
			codes: []string{"torn_tail"},
			says:  []string{"rollouts.jsonl:3"},
			stats: map[string]string{"accounting.torn": "1", "accounting.unreadable": "1", "rollout.count": "3"},
		},
		{
			name:  "cut in a character",
			files: map[string]string{"rollouts.jsonl": rows(1) + `{"text":"caf` + "\xc3"},
			codes: []string{"torn_tail"},
			stats: map[string]string{"accounting.torn": "1", "accounting.unreadable": "1"},
		},
		{
			name:  "whole tail",
			files: map[string]string{"rollouts.jsonl": rows(1) + row(1, 0)},
			codes: []string{},
			stats: map[string]string{"accounting.torn": "0", "accounting.unreadable": "0", "rollout.count": "2"},
		},
		{
			name: "unreadable rows",
			files: map[string]string{"rollouts.jsonl": row(0, 0) + "\n" + `{"reward":NaN}` + "\n" + "\xff\xfe\n" + `[1]` + "\n \t\r\n" +
				`{"a":1}{"b":2}` + "\n" + `{"s":"\ud800"}` + "\n" + row(1, 0) + "\n"},
			codes: []string{"repaired_row", "unreadable_row"},
			says:  []string{"rollouts.jsonl:2"},
			stats: map[string]string{"accounting.read": "2", "accounting.unreadable": "5", "accounting.blank": "1", "accounting.torn": "0", "rollout.count": "7"},
		},
		{
			name:  "empty file",
			files: map[string]string{"rollouts.jsonl": ""},
			codes: []string{"empty_source"},
			stats: map[string]string{"accounting.bytes": "0", "rollout.count": "0", "verdict.healthy": "0"},
		},
		{
			name:  "blank lines only",
			files: map[string]string{"rollouts.jsonl": "\n \n\t\n"},
			codes: []string{},
			stats: map[string]string{"accounting.lines": "3", "accounting.blank": "3", "rollout.count": "0"},
		},
		{
			name:  "picture beside rollouts",
			files: map[string]string{"rollouts.jsonl": rows(3), "plot.png": picture},
			codes: []string{"unknown_kind"},
			says:  []string{"plot.png"},
			stats: map[string]string{"accounting.files": "1", "rollout.count": "3"},
		},
		{
			name:  "companions are not rollouts",
			files: map[string]string{"rollouts.jsonl": rows(3), "rollouts_failures.jsonl": rows(2), "rollouts_materialized_inputs.jsonl": rows(4)},
			codes: []string{},
			stats: map[string]string{"accounting.files": "1", "rollout.count": "3"},
		},
		{
			name:  "null index",
			files: map[string]string{"rollouts.jsonl": rows(2) + `{"_ng_task_index":null,"_ng_rollout_index":0}` + "\n" + row(7, 0) + "\n"},
			codes: []string{"refused_report"},
			says:  []string{"rollouts.jsonl", "null"},
			stats: map[string]string{"rollout.count": "4", "accounting.read": "4"},
		},
		{
			name:  "fractional index",
			files: map[string]string{"rollouts.jsonl": rows(1) + `{"_ng_task_index":1,"_ng_rollout_index":0.5}` + "\n"},
			codes: []string{"refused_report"},
			says:  []string{"rollouts.jsonl", "0.5"},
			stats: map[string]string{"rollout.count": "2"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.In(t)
			folder := files(t, c.files)
			p.SetHash("tab=health")
			p.Drop(folder)
			p.WaitState("ready")
			if codes := p.Codes(); !slices.Equal(codes, c.codes) {
				t.Errorf("messages %q, want %q: %v", codes, c.codes, p.Alerts())
			}
			for _, words := range c.says {
				if !slices.ContainsFunc(p.Alerts(), func(a Alert) bool { return strings.Contains(a.Text, words) }) {
					t.Errorf("no message says %q: %v", words, p.Alerts())
				}
			}
			have := p.Stats()
			for name, value := range c.stats {
				if have[name] != value {
					t.Errorf("stat %s is %q, want %q", name, have[name], value)
				}
			}
			p.holds(judge(t, folder, []string{"rollouts.jsonl"}, nil, ""))
		})
	}
}

// TestUnknownCheck ignores checks that do not exist: the page says so and shows all rows, like the command.
func TestUnknownCheck(t *testing.T) {
	folder := files(t, map[string]string{"rollouts.jsonl": rows(3)})
	p := open(t, "#tab=health&ignore=agent_turn_hollow,not_a_check")
	p.Drop(folder)
	p.WaitState("ready")
	if text := p.WaitAlert("refused_report"); !strings.Contains(text, "not_a_check") {
		t.Errorf("the message does not name the check: %s", text)
	}
	want := judge(t, folder, []string{"rollouts.jsonl"}, []string{"agent_turn_hollow,not_a_check"}, "")
	if !strings.Contains(want.refused, "not_a_check") {
		t.Errorf("the command does not name the check: %s", want.refused)
	}
	p.holds(want)
}

// TestPictureAlone drops a file of no known kind and nothing else.
func TestPictureAlone(t *testing.T) {
	p := open(t, "")
	p.Drop(write(t, t.TempDir(), "plot.png", picture))
	p.WaitState("ready")
	p.WaitAlert("unknown_kind")
	if n := p.Stat("rollout.count"); n != "0" {
		t.Errorf("%s rollouts in a picture", n)
	}
	if text := p.Text("#region-main"); !strings.Contains(text, "plot.png") {
		t.Errorf("the picture is not listed: %s", text)
	}
}

// TestSameFileTwice gives two files of one name and size, as two folders have them.
func TestSameFileTwice(t *testing.T) {
	folder := t.TempDir()
	a, b := write(t, folder, "a/rollouts.jsonl", rows(3)), write(t, folder, "b/rollouts.jsonl", rows(3))
	p := open(t, "#tab=files")
	p.ChooseFiles(a, b)
	p.WaitState("ready")
	p.WaitAlert("duplicate_source")
	p.WaitStats(map[string]string{"accounting.files": "1", "rollout.count": "3"})
}

// TestRefusedRows opens unreadable rows: their bytes are shown as text, with place and reason.
func TestRefusedRows(t *testing.T) {
	bad := `{"_ng_task_index":1,"text":"<b>bold</b> ` + "\u202e" + `and back","reward":NaN}`
	folder := files(t, map[string]string{"rollouts.jsonl": row(0, 0) + "\n" + bad + "\n" + row(2, 0) + "\n"})
	p := open(t, "#tab=files")
	p.Drop(folder)
	p.WaitState("ready")
	if text := p.Text(`[data-table=refused]`); !strings.Contains(text, "rollouts.jsonl:2") {
		t.Errorf("the row is not listed: %s", text)
	}
	p.SetHash("rollout=rollouts.jsonl:2")
	p.Wait(`document.querySelector("#region-main").innerText.includes("<b>bold</b>")`)
	text := p.Text("#region-main")
	at := len(row(0, 0)) + 1 + strings.Index(bad, "NaN")
	for _, words := range []string{"rollouts.jsonl:2", "RLO", fmt.Sprintf("byte %d", at)} {
		if !strings.Contains(text, words) {
			t.Errorf("the row's page does not say %q: %s", words, text)
		}
	}
	if strings.Contains(text, "\u202e") {
		t.Errorf("a character that turns the direction of writing is in force: %q", text)
	}
}

// TestFolderOf120 drops a folder of many folders, which the browser hands out a hundred at a time.
func TestFolderOf120(t *testing.T) {
	folder, names := many(t, 120)
	want := judge(t, folder, names, nil, "")
	if want.rows != 120 {
		t.Fatalf("%d rows", want.rows)
	}
	p := open(t, "#tab=health")
	p.Drop(folder)
	p.WaitState("ready")
	p.holds(want)
	p.ChooseFolder(folder)
	p.WaitState("ready")
	p.holds(want)
}

// many makes a folder of n folders with one row each and gives their files in the visible order.
func many(t testing.TB, n int) (folder string, names []string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "run")
	for i := range n {
		names = append(names, fmt.Sprintf("shard-%d/rollouts.jsonl", i))
		write(t, folder, names[i], row(i, 0)+"\n")
	}
	return folder, names
}

// TestFolderOf10000 drops a folder of ten thousand files, one of which is a rollouts file.
func TestFolderOf10000(t *testing.T) {
	folder := files(t, map[string]string{"rollouts.jsonl": rows(5)})
	for i := range 9_999 {
		write(t, folder, fmt.Sprintf("trials/trial-%05d.json", i), `{}`)
	}
	p := open(t, "#tab=health")
	p.Drop(folder)
	p.WaitState("ready")
	p.holds(judge(t, folder, []string{"rollouts.jsonl"}, nil, ""))
	p.Click("Files")
	p.Wait(`document.querySelector("#region-main").innerText.includes("10,000")`)
	if n := len(p.Alerts()); n > 4 {
		t.Errorf("%d messages about files of one kind", n)
	}
	if n := Eval[int](p, `document.querySelectorAll("*").length`); n > 12_000 {
		t.Errorf("%d elements in the page", n)
	}
}
