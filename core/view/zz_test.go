package view

import (
	"os"
	"testing"
	"time"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/runfolder"
)

func TestZZ(t *testing.T) {
	data, err := os.ReadFile("/tmp/big.jsonl")
	if err != nil {
		t.Skip()
	}
	var d Desk
	tasks := d.Open([]runfolder.File{{Path: "big.jsonl", Size: int64(len(data))}}, false)
	s := analysis.NewScan(tasks[0].Source, 0, int64(len(data)), 1<<30)
	t0 := time.Now()
	s.Feed(data)
	s.Finish()
	if err := d.Add(s.Take()); err != nil {
		t.Fatal(err)
	}
	t.Log("scan", time.Since(t0))
	for _, f := range []string{"tab=overview", "tab=overview", "tab=rollouts", "tab=rollouts", "tab=tasks", "tab=tasks", "tab=tasks&sort=name", "tab=tasks&sort=solved", "tab=tasks&filter=task.solved=3", "tab=rollouts&filter=reward>0.5", "tab=rollouts&sort=-completion", "tab=rollouts&sort=-completion"} {
		t0 := time.Now()
		st, _ := d.Read(f, Host{})
		d.Page(st, Host{}, nil)
		t.Log(f, time.Since(t0))
	}
}
