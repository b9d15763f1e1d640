package web

import (
	"context"
	"io"

	"github.com/a-h/templ"

	"github.com/rollscope/rollscope/core/view"
)

// A shape is how a mark is drawn: one path in a square of ten, filled by the even-odd rule, and the word that says
// the same.
type shape struct{ path, word string }

// shapes is the table of marks. Colours come from the stylesheet, class "m-" and the mark.
var shapes = map[view.Mark]shape{
	view.MarkHealthy:    {"M5 .6a4.4 4.4 0 1 0 0 8.8a4.4 4.4 0 1 0 0-8.8z", "healthy"},
	view.MarkUnhealthy:  {"M5 .4 9.9 9.4H.1z", "unhealthy"},
	view.MarkUnobserved: {"M5 .6a4.4 4.4 0 1 0 0 8.8a4.4 4.4 0 1 0 0-8.8zM5 2.1a2.9 2.9 0 1 0 0 5.8a2.9 2.9 0 1 0 0-5.8z", "unobserved"},
	view.MarkMasked:     {"M.8.8h8.4v8.4H.8zM5 2.2v5.6h2.8V2.2z", "masked"},
	view.MarkUnscored:   {"M.8.8h8.4v8.4H.8zM2.2 2.2v5.6h5.6V2.2z", "unscored"},
	view.MarkOmitted:    {"M.4 3.8h9.2v2.4H.4z", "omitted"},
	view.MarkFailed:     {"M.8 2.4 2.4.8 5 3.4 7.6.8 9.2 2.4 6.6 5 9.2 7.6 7.6 9.2 5 6.6 2.4 9.2.8 7.6 3.4 5z", "failed"},
	view.MarkUnknown:    {"M5 0 10 5 5 10 0 5zM5 2 2 5 5 8 8 5z", "unknown"},
	view.MarkMeasured:   {"M1 1h8v8H1z", "measured"},
	view.MarkNote:       {"M.6 1h8.8v6.200H5.200L2.600 9.600V7.200h-2z", "note"},
}

// mark draws a mark in front of its word.
func mark(m view.Mark) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		s, known := shapes[m]
		if !known {
			return nil
		}
		_, err := io.WriteString(w, `<svg class="m m-`+string(m)+`" viewBox="0 0 10 10" aria-hidden="true"><path d="`+s.path+`"></path></svg>`)
		return err
	})
}

// markAlone draws a mark that no word follows; the word is there for screen readers and as a hint.
func markAlone(m view.Mark) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		s, known := shapes[m]
		if !known {
			return nil
		}
		_, err := io.WriteString(w, `<svg class="m m-`+string(m)+`" viewBox="0 0 10 10" role="img"><title>`+s.word+`</title><path d="`+s.path+`"></path></svg>`)
		return err
	})
}

// noteMark draws the mark of a note that begins with some words.
func noteMark(words string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		s := shapes[view.MarkNote]
		_, err := io.WriteString(w, `<svg class="m m-note" viewBox="0 0 10 10" role="img" aria-label="note"><title>`+templ.EscapeString(plain("note: "+words))+`</title><path d="`+s.path+`"></path></svg>`)
		return err
	})
}

// tone keeps a class that comes from a model to the letters of a class.
func tone(s string) string {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return ""
		}
	}
	return s
}
