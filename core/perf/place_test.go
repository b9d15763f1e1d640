package perf

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
)

// TestPlaces holds where a digest places calls against the owners that follow from the whole trajectory, on every row of
// the test data whose calls are those of its trajectory.
func TestPlaces(t *testing.T) {
	paths, _ := filepath.Glob("../../testdata/health/*/input/*.jsonl")
	more, _ := filepath.Glob("../../testdata/project/*/expected/projected_rollouts.jsonl")
	rows, owned, placed := 0, 0, 0
	for _, path := range append(paths, more...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var (
			rollouts     rollout.Reader
			trajectories trajectory.Reader
		)
		for i, line := range bytes.Split(text, []byte{'\n'}) {
			if jsonl.Blank(line) {
				continue
			}
			row := rollouts.Read(&jsonl.Line{Bytes: line, Length: int64(len(line)), Terminated: true})
			if row.Problem != nil || !row.Trajectory.IsObject() {
				continue
			}
			record, err := trajectories.Read(row.Trajectory)
			if err != nil {
				continue
			}
			digest, err := modelcall.Open(new(modelcall.Mapper).Append(nil, row))
			if err != nil {
				t.Fatal(err)
			}
			if digest.Len != len(record.Calls) {
				continue
			}
			rows++
			owners := Owners(record)
			for digest.Next() {
				c := &digest.Call
				want := ""
				if owner := owners[c.Index]; owner >= 0 {
					want = record.Invocations[owner].ID.String()
					owned++
				}
				if c.Invocation != want {
					t.Errorf("%s:%d: call %d belongs to %q, want %q", path, i+1, c.Index, c.Invocation, want)
				}
				turn := 0
				for n := range record.Turns {
					for k := range record.Turns[n].Refs {
						ref, fits := &record.Turns[n].Refs[k], 0
						for m := range record.Calls {
							if call := &record.Calls[m]; ref.Matches(&trajectory.Ref{ModelCallID: call.ID, Model: call.ModelRef, ResponseID: call.ResponseID}) {
								fits++
							}
						}
						call := &record.Calls[c.Index]
						if turn == 0 && fits == 1 && ref.Matches(&trajectory.Ref{ModelCallID: call.ID, Model: call.ModelRef, ResponseID: call.ResponseID}) {
							turn = n + 1
							placed++
						}
					}
				}
				if c.Turn != turn {
					t.Errorf("%s:%d: call %d is of turn %d, want %d", path, i+1, c.Index, c.Turn, turn)
				}
			}
		}
	}
	if rows < 100 || owned < 100 || placed < 100 {
		t.Errorf("%d rows, %d owned calls, %d of turns", rows, owned, placed)
	}
}
