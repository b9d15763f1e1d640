package synth_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/synth"
)

// judged is one row of the verdict report.
type judged struct {
	Task       any `json:"_ng_task_index"`
	Rollout    int `json:"_ng_rollout_index"`
	Verdict    string
	Findings   []finding
	Unobserved []string
}

type finding struct {
	Check  string
	Detail struct{ Kind, Reason string }
}

// fired lists the checks with findings, each once, in registry order.
func (j *judged) fired() []string {
	list := []string{}
	for _, f := range j.Findings {
		if !slices.Contains(list, f.Check) {
			list = append(list, f.Check)
		}
	}
	return list
}

type summary struct {
	Run struct {
		Artifacts struct{ Records int }
		Verdicts  map[string]int
		Issues    map[string]int
	}
}

// judge runs the health pass over one rollouts file.
func judge(t *testing.T, data []byte) ([]judged, summary) {
	t.Helper()
	reducer, err := health.NewReducer(health.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var reader rollout.Reader
	var mapper health.Mapper
	ordinal := int64(0)
	read := func(line *jsonl.Line) bool {
		if jsonl.Blank(line.Bytes) {
			return true
		}
		row := reader.Read(line)
		id := row.Identity()
		err := reducer.Add(&health.Row{
			Name: "rollouts.jsonl", Line: line.Number, Ordinal: ordinal,
			Identity: id.Resolve(ordinal, 0, line.Number), Digest: mapper.Append(nil, row),
		})
		if err != nil {
			t.Fatal(err)
		}
		ordinal++
		return true
	}
	splitter := jsonl.NewSplitter(0)
	splitter.Feed(data, read)
	splitter.Finish(read)

	report, err := reducer.Report()
	if err != nil {
		t.Fatal(err)
	}
	text, err := report.SummaryJSON()
	if err != nil {
		t.Fatal(err)
	}
	var s summary
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	if err := report.WriteVerdicts(&lines); err != nil {
		t.Fatal(err)
	}
	var rows []judged
	for decoder := json.NewDecoder(&lines); decoder.More(); {
		var j judged
		if err := decoder.Decode(&j); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, j)
	}
	return rows, s
}

func TestEveryCheckFiresOnTheSample(t *testing.T) {
	rows, s := judge(t, synth.Sample()[0].Data)
	if len(s.Run.Issues) != 14 {
		t.Errorf("%d checks are reported", len(s.Run.Issues))
	}
	for check, n := range s.Run.Issues {
		if n == 0 {
			t.Errorf("%s does not fire", check)
		}
	}
	// Two checks have more than one thing to say.
	kinds, reasons := map[string]bool{}, map[string]bool{}
	for _, row := range rows {
		for _, f := range row.Findings {
			switch f.Check {
			case "trajectory_capture_mismatch":
				kinds[f.Detail.Kind] = true
			case "record_unreadable":
				reasons[f.Detail.Reason] = true
			}
		}
	}
	if !kinds["missing_captured_call"] || !kinds["duplicated_captured_call"] || !kinds["conflicting_call_ownership"] {
		t.Errorf("kinds of capture mismatch: %v", kinds)
	}
	if len(reasons) != 2 {
		t.Errorf("reasons of unreadable records: %v", reasons)
	}
	healthy, unobserved := s.Run.Verdicts["healthy"], s.Run.Verdicts["unobserved"]
	if healthy*2 <= len(rows) || unobserved == 0 {
		t.Errorf("of %d rollouts %v", len(rows), s.Run.Verdicts)
	}
}

func TestKindsAreJudgedAsTheySay(t *testing.T) {
	o := synth.Options{Rollouts: 1500, MeanBytes: 12 << 10, Seed: 5, Mix: synth.TextOnly}
	var data bytes.Buffer
	stats, err := synth.Write(&data, o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := synth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	rows, s := judge(t, data.Bytes())
	if len(rows) != o.Rollouts {
		t.Fatalf("%d rows judged", len(rows))
	}
	for n, j := range rows {
		kind := m.Kind(n)
		if j.Verdict != kind.Verdict() || !slices.Equal(j.fired(), kind.Fires()) || !slices.Equal(j.Unobserved, kind.Unobserved()) {
			t.Errorf("row %d, %s: %s, fired %v, unobserved %v; want %s, %v, %v", n, kind,
				j.Verdict, j.fired(), j.Unobserved, kind.Verdict(), kind.Fires(), kind.Unobserved())
		}
	}
	compareVerdicts(t, s, stats)
}

func TestDirtyRunsAreJudgedAsTheStatsSay(t *testing.T) {
	var data bytes.Buffer
	stats, err := synth.Write(&data, synth.Options{Rollouts: 200, MeanBytes: 12 << 10, Seed: 6, Dirty: true})
	if err != nil {
		t.Fatal(err)
	}
	_, s := judge(t, data.Bytes())
	compareVerdicts(t, s, stats)
	// One finding a line and one for each row whose trajectory does not hold.
	if got, want := s.Run.Issues["record_unreadable"], stats.Unreadable+stats.Kinds[synth.BadTrajectory]; got < want {
		t.Errorf("%d records are unreadable, want %d", got, want)
	}
	if got := s.Run.Issues["rollout_duplicate_identity"]; got != 2*stats.Repeated {
		t.Errorf("%d rows share an identity, want %d", got, 2*stats.Repeated)
	}
}

func compareVerdicts(t *testing.T, s summary, stats synth.Stats) {
	t.Helper()
	want := map[string]int{"healthy": stats.Healthy, "unhealthy": stats.Unhealthy, "unobserved": stats.Unobserved}
	for verdict, n := range want {
		if s.Run.Verdicts[verdict] != n {
			t.Errorf("%d rows are %s, the stats say %d", s.Run.Verdicts[verdict], verdict, n)
		}
	}
	if s.Run.Artifacts.Records != stats.Lines {
		t.Errorf("%d records, the stats say %d lines", s.Run.Artifacts.Records, stats.Lines)
	}
}
