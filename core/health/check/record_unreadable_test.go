package check

import (
	"strings"
	"testing"
)

func TestRecordUnreadable(t *testing.T) {
	const (
		line       = `{"check":"record_unreadable","detail":{"reason":"rollout record is unreadable","error":"JSONDecodeError"}}`
		value      = `{"check":"record_unreadable","detail":{"reason":"rollout record is unreadable","error":"ValueError"}}`
		trajectory = `{"check":"record_unreadable","detail":{"reason":"canonical trajectory is unreadable","error":"ValidationError"}}`
	)
	runSamples(t, RecordUnreadable, []sample{
		{"cut", `{"a":`, line, ""},
		{"not JSON", `NaN`, line, ""},
		{"array", `[]`, value, ""},
		{"null", `null`, value, ""},
		{"empty row", `{}`, "clean", ""},
		{"null trajectory", `{"ng_trajectory":null}`, "clean", ""},
		{"false trajectory", `{"ng_trajectory":false}`, trajectory, ""},
		{"zero trajectory", `{"ng_trajectory":0}`, trajectory, ""},
		{"empty trajectory", `{"ng_trajectory":{}}`, trajectory, ""},
		{"extra key", row(`"extra":1`), trajectory, ""},
		{"item of no kind", row(invocations(`{"invocation_id":"i","conversation":[{"role":[]}]}`)),
			`{"check":"record_unreadable","detail":{"reason":"canonical trajectory is unreadable","error":"TypeError"}}`, ""},
		{"too deep", row(turns(turn(1, `"answer":`+strings.Repeat("[", 256)+strings.Repeat("]", 256)))),
			`{"check":"record_unreadable","detail":{"reason":"canonical trajectory is unreadable","error":"ValueError"}}`, ""},
		{"deep enough", row(turns(turn(1, `"answer":`+strings.Repeat("[", 255)+strings.Repeat("]", 255)))), "clean", ""},
		{"projection failed", row(gapList(gapOf("trajectory_projection_failed"))), "clean", ""},
	})
}

func TestRecordUnreadablePlace(t *testing.T) {
	j := judgeRow(lead + `{"a":01}`)
	_, f := j.of(t, RecordUnreadable, V07)
	if p := f[0].Place; p.Offset != int64(len(lead)+5) || p.Pointer != "" || p.Turn != -1 {
		t.Errorf("%+v", p)
	}
	if s := Sentence(f[0]); s != "the line is no JSON: malformed number" {
		t.Error(s)
	}
	j = judgeRow(`[]`)
	_, f = j.of(t, RecordUnreadable, V07)
	if s := Sentence(f[0]); !strings.HasPrefix(s, "the line is no object: ") {
		t.Error(s)
	}
	for c, o := range j.Outcomes[V07] {
		if want := LineUnreadable; c == RecordUnreadable && o != Fired || c != RecordUnreadable && o != want {
			t.Errorf("%s: %s", At(c).ID, o.Code())
		}
	}
	line := lead + row(turns(turn(1, `"resolved":"maybe"`)))
	j = judgeRow(line)
	_, f = j.of(t, RecordUnreadable, V07)
	if p := f[0].Place; p.Pointer != "/ng_trajectory/turns/0/resolved" || !strings.HasPrefix(line[p.Offset:], `"maybe"`) {
		t.Errorf("%+v", p)
	}
	f[0].InLine("a/b.jsonl", 7)
	if b, err := f[0].AppendJSON(nil); err != nil || !strings.Contains(string(b), `"locator":{"source_file":"a/b.jsonl","line":7}`) {
		t.Errorf("%s %v", b, err)
	}
}
