package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// safe makes a text from a file or a path fit for a terminal: whatever could move the cursor, change the
// direction of writing or hide is written as its number.
func safe(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !unsafeRune(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

func unsafeRune(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// short cuts a text to at most n characters.
func short(s string, n int) string {
	at := 0
	for i := range s {
		if at == n-1 && utf8.RuneCountInString(s[i:]) > 1 {
			return s[:i] + "…"
		}
		at++
	}
	return s
}

// note tells something about a result that does not change it.
func (h *host) note(format string, args ...any) {
	fmt.Fprintf(h.err, "note: %s\n", safe(fmt.Sprintf(format, args...)))
}

// errWriter keeps the first error of a sequence of writes.
type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) printf(format string, args ...any) {
	if e.err == nil {
		_, e.err = fmt.Fprintf(e.w, format, args...)
	}
}

// marshal writes a value for programs: nothing is escaped for HTML.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// printJSON prints one document on one line.
func printJSON(w io.Writer, value any) error {
	b, err := marshal(value)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}
