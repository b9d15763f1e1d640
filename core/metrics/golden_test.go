package metrics

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestGolden holds the files of every case against those of the reference.
func TestGolden(t *testing.T) {
	refused, compared := 0, 0
	for name, c := range cases(t) {
		for _, s := range c.Steps {
			if outputs[s.Op] == nil {
				continue
			}
			t.Run(name+"/"+s.Op+"/"+s.Into, func(t *testing.T) {
				expected := filepath.Join(testdata, "metrics", name, "expected", s.Into)
				files, err := s.do(t, name)
				if _, missing := os.Stat(filepath.Join(expected, s.Op+"_error.json")); missing == nil {
					refused++
					if err == nil {
						t.Error("the reference refuses this")
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range outputs[s.Op] {
					want, err := os.ReadFile(filepath.Join(expected, file))
					switch {
					case errors.Is(err, os.ErrNotExist):
						if _, ok := files[file]; ok {
							t.Errorf("%s was written", file)
						}
					case err != nil:
						t.Fatal(err)
					default:
						compared++
						sameJSON(t, file, want, files[file])
					}
				}
			})
		}
	}
	if refused < 10 || compared < 100 {
		t.Errorf("%d refusals and %d files were looked at", refused, compared)
	}
}

// TestAgree holds the metrics that came with real runs against their rows: whatever can be derived is equal.
func TestAgree(t *testing.T) {
	looked := 0
	for name, c := range cases(t) {
		path := ""
		if len(c.Steps) > 0 && c.Steps[0].Rollouts != "" {
			path = input(name, c.Steps[0].Rollouts[:len(c.Steps[0].Rollouts)-len(".jsonl")]+"_aggregate_metrics.json")
		}
		if path == "" {
			continue
		}
		looked++
		t.Run(name, func(t *testing.T) {
			saved, err := ParseSaved(read(t, path))
			if err != nil {
				t.Fatal(err)
			}
			run := mustRun(t, string(read(t, input(name, c.Steps[0].Rollouts))), true)
			for _, a := range run.Agree(saved) {
				if a.Counts[Match] < 50 || a.Counts[Differs] > 0 || a.Counts[OtherScore] > 0 {
					t.Errorf("%s: %v, %+v", a.Label, a.Counts, a.Differences)
				}
				if a.Saved >= 0 && a.Saved != a.Rows {
					t.Errorf("%s: %d rows, the file counts %d", a.Label, a.Rows, a.Saved)
				}
			}
		})
	}
	if looked < 10 {
		t.Errorf("only %d saved files", looked)
	}
}

// TestAgreeTells changes a saved value and adds a row.
func TestAgreeTells(t *testing.T) {
	const rows = `{"_ng_task_index":0,"_ng_rollout_index":0,"reward":1.0,"agent_ref":{"name":"a"}}
{"_ng_task_index":0,"_ng_rollout_index":1,"reward":0.0,"agent_ref":{"name":"a"}}
`
	const file = `[{"agent_ref":{"name":"a"},"_ng_environment_server":"a_environment_server","agent_metrics":{"mean/reward":0.6,"num_repeats":2,"pass@1/accuracy":50.0,"pass@2/accuracy":99.0,"own":3},
"key_metrics":{"mean/reward":0.5},"group_level_metrics":[{"_ng_task_index":0,"mean/reward":0.5,"num_rollouts":3}],"repeat_level_metrics":[{"_ng_rollout_index":1,"sample_count":1,"mean/reward":0.0}]}]`
	saved, err := ParseSaved([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	a := mustRun(t, rows, true).Agree(saved)[0]
	if a.Rows != 2 || a.Saved != 3 {
		t.Errorf("%d rows, %d saved", a.Rows, a.Saved)
	}
	status := map[string]Status{}
	for _, d := range a.Differences {
		status[d.Part.String()+" "+d.Name] = d.Status
	}
	for name, want := range map[string]Status{
		"agent_metrics mean/reward": Differs, "agent_metrics pass@1/accuracy": DefaultScore, "agent_metrics pass@2/accuracy": OtherScore,
		"agent_metrics own": SavedOnly, "agent_metrics max/reward": DerivedOnly, "group_level_metrics num_rollouts": Differs,
		"repeat_level_metrics missing_count": DerivedOnly,
	} {
		if have, ok := status[name]; !ok || have != want {
			t.Errorf("%s: %v (%t), want %v", name, have, ok, want)
		}
	}
	if _, ok := status["key_metrics mean/reward"]; ok {
		t.Error("the key metric is equal")
	}
}

func TestParseSavedRefuses(t *testing.T) {
	for _, text := range []string{
		"", "{}", "[]", "[1]", "[{}]", `[{"agent_ref":{"name":1}}]`, `[{"agent_ref":"a"}]`, `[{"agent_ref":{"name":"a"}},{"agent_ref":{"name":"a"}}]`,
		`[{"agent_ref":{"name":"a"},"agent_metrics":{"x":NaN}}]`, `[{"agent_ref":{"name":"a"}}`,
	} {
		if _, err := ParseSaved([]byte(text)); !errors.Is(err, ErrSaved) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
