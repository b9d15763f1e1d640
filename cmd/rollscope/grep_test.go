package main

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// Colours are for terminals, and not where they are unwanted.
func TestGrepColours(t *testing.T) {
	path := write(t, t.TempDir(), "rollouts.jsonl", `{"response":{"output":[{"type":"message","role":"assistant","content":"a \u001b[31mred\u001b[0m word"}]}}`+"\n")
	for _, tt := range []struct {
		terminal bool
		env      map[string]string
		args     []string
		colour   bool
	}{
		{false, nil, nil, false},
		{true, nil, nil, true},
		{true, map[string]string{"NO_COLOR": "1"}, nil, false},
		{true, map[string]string{"TERM": "dumb"}, nil, false},
		{true, nil, []string{"--json"}, false},
	} {
		h, out, talk := quietHost()
		h.outTerminal = tt.terminal
		h.env = func(name string) string { return tt.env[name] }
		if code := h.run(context.Background(), append([]string{"grep", "re+d", path}, tt.args...)); code != exitDone || talk.Len() > 0 {
			t.Errorf("%+v: status %d, %s", tt, code, talk)
		}
		want := 0
		if tt.colour {
			want = 2 // the beginning and the end of the hit, and nothing of what the file says
		}
		if got := strings.Count(out.String(), "\x1b"); got != want {
			t.Errorf("%+v: %d escape sequences in %q", tt, got, out)
		}
		if tt.colour && !strings.Contains(out.String(), "\x1b[1;31mred\x1b[0m") {
			t.Errorf("%q", out)
		}
	}
}

func TestGrepInterrupted(t *testing.T) {
	path := write(t, t.TempDir(), "rollouts.jsonl", strings.Repeat(`{"response":"word"}`+"\n", 200_000))
	ctx, stop := context.WithCancelCause(context.Background())
	stop(errors.New("interrupt signal received"))
	h, _, talk := quietHost()
	if code := h.run(ctx, []string{"grep", "nothing", path}); code != exitInterrupted || talk.String() != "rollscope: interrupted\n" {
		t.Errorf("status %d: %s", code, talk)
	}
}
