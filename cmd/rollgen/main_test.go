package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/synth"
)

func TestWritesARun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "run")
	var stdout, stderr bytes.Buffer
	args := []string{"-o", dir, "-rollouts", "30", "-kib", "12.5", "-repeats", "3", "-seed", "11", "-mix", "text", "-dirty"}
	if code := run(args, &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	got, err := os.ReadFile(filepath.Join(dir, "rollouts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if _, err := synth.Write(&want, synth.Options{Rollouts: 30, MeanBytes: 12_800, Repeats: 3, Seed: 11, Mix: synth.TextOnly, Dirty: true}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("the file is not what the flags ask for")
	}
	if stdout.Len() > 0 || !strings.Contains(stderr.String(), "10 tasks") {
		t.Errorf("stdout %q, stderr %q", &stdout, &stderr)
	}
	if code := run(args, &stdout, &stderr); code != 2 {
		t.Errorf("writing over a run exits %d", code)
	}
	if again, _ := os.ReadFile(filepath.Join(dir, "rollouts.jsonl")); !bytes.Equal(again, got) {
		t.Error("the refused run changed the file")
	}
}

func TestWritesTheSample(t *testing.T) {
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	if code := run([]string{"-sample", "-o", dir}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	for _, f := range synth.Sample() {
		if got, err := os.ReadFile(filepath.Join(dir, f.Name)); err != nil || !bytes.Equal(got, f.Data) {
			t.Errorf("%s differs, error %v", f.Name, err)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, flag := range []string{"-h", "--help"} {
		var stdout, stderr bytes.Buffer
		code := run([]string{flag}, &stdout, &stderr)
		if code != 0 || stderr.Len() > 0 || !strings.Contains(stdout.String(), "-rollouts") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", flag, code, &stdout, &stderr)
		}
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.WriteFile(taken, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{},
		{"-o", dir, "more"},
		{"-o", dir, "-unknown"},
		{"-o", dir, "-rollouts", "many"},
		{"-o", dir, "-rollouts", "-1"},
		{"-o", dir, "-repeats", "0"},
		{"-o", dir, "-kib", "0"},
		{"-o", dir, "-kib", "NaN"},
		{"-o", dir, "-kib", "1e300"},
		{"-o", dir, "-mix", "other"},
		{"-o", dir, "-sample", "-dirty"},
		{"-o", taken},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(args, &stdout, &stderr); code != 2 || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "rollgen: ") {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", args, code, &stdout, &stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, "rollouts.jsonl")); err == nil {
			t.Fatalf("%q left a file behind", args)
		}
	}
}
