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

// A screen writes to a terminal what was made for a file: characters that steer it are written as their number, all
// but line feeds and tabs.
type screen struct {
	w    io.Writer
	rest []byte // a character that is not whole yet
}

func (s *screen) Write(b []byte) (int, error) {
	text := append(s.rest, b...)
	whole := len(text)
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-n:]) {
				whole -= n
			}
			break
		}
	}
	if err := s.put(text[:whole]); err != nil {
		return 0, err
	}
	s.rest = append([]byte(nil), text[whole:]...)
	return len(b), nil
}

func (s *screen) put(text []byte) error {
	var out strings.Builder
	for len(text) > 0 {
		n := bytes.IndexAny(text, "\n\t")
		if n < 0 {
			n = len(text)
		}
		out.WriteString(safe(string(text[:n])))
		if n < len(text) {
			out.WriteByte(text[n])
			n++
		}
		text = text[n:]
	}
	_, err := io.WriteString(s.w, out.String())
	return err
}

// Close writes what is left of a text that ends in the middle of a character.
func (s *screen) Close() error {
	rest := s.rest
	s.rest = nil
	return s.put(rest)
}

// shown calls write with standard output, as a screen where that is a terminal.
func (h *host) shown(write func(io.Writer) error) error {
	if !h.outTerminal {
		return write(h.out)
	}
	s := &screen{w: h.out}
	err := write(s)
	if closed := s.Close(); err == nil {
		err = closed
	}
	return err
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
	return unsteered(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), err
}

// unsteered escapes in JSON what could steer a terminal or the direction of writing and is left as it is elsewhere.
func unsteered(text []byte) []byte {
	steers := func(r rune) bool { return r >= 0x7F && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) }
	if bytes.IndexFunc(text, steers) < 0 {
		return text
	}
	var b []byte
	for _, r := range string(text) {
		if steers(r) {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// printJSON prints one document on one line.
func printJSON(w io.Writer, value any) error {
	b, err := marshal(value)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}
