package main

import (
	"testing"

	"github.com/rollscope/rollscope/core/modelcall"
)

// TestGroupName tells groups of the same model apart, by their servers.
func TestGroupName(t *testing.T) {
	groups := []modelcall.Group{
		{Server: "policy", Model: "m", Dialect: "chat"},
		{Server: "", Model: "m", Dialect: "chat"},
		{Server: "policy", Model: "m", Dialect: "responses"},
		{Server: "judge", Model: "", Dialect: ""},
	}
	for i, want := range []string{"m (chat) of policy", "m (chat) of –", "m (responses)", "–"} {
		if got := groupName(&groups[i], groups); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
