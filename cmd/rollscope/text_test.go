package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// On a terminal nothing that was made for a file steers it, however it is cut into writes; elsewhere it is as it is.
func TestScreen(t *testing.T) {
	const text = "a\tb\n\x1b[31mred\u009b2J\u202e\u200b é漢😀 \xff\xf0\x9f\x7f\r\n\xf0\x9f"
	const want = "a\tb\n" + `\x1b[31mred\u{9b}2J\u{202e}\u{200b} é漢😀 \xff\xf0\x9f\x7f\x0d` + "\n" + `\xf0\x9f`
	for size := 1; size < len(text); size++ {
		h, out, _ := quietHost()
		h.outTerminal = true
		err := h.shown(func(w io.Writer) error {
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if done, err := io.WriteString(w, rest[:n]); done != n || err != nil {
					return err
				}
				rest = rest[n:]
			}
			return nil
		})
		if err != nil || out.String() != want {
			t.Fatalf("in pieces of %d: %q, %v", size, out, err)
		}
		out.Reset()
		h.outTerminal = false
		if err := h.shown(func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil || out.String() != text {
			t.Fatalf("%q, %v", out, err)
		}
	}
}

func TestUnsteered(t *testing.T) {
	const value = "a \x1b\x7f\u009b\u202e\u2066 é<>&😀"
	b, err := marshal(map[string]string{value: value})
	var back map[string]string
	if err != nil || json.Unmarshal(b, &back) != nil || back[value] != value {
		t.Fatalf("%s, %v", b, err)
	}
	if bytes.ContainsAny(b, "\x1b\x7f\u009b\u202e\u2066") || !strings.Contains(string(b), "é<>&😀") {
		t.Errorf("%q", b)
	}
}
