package web

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/rollscope/rollscope/core/view"
)

// linked tells whether a link may be written. The page links to its own States and nowhere else.
func linked(href string) bool { return strings.HasPrefix(href, "#") }

// to is a link that linked has let pass.
func to(href string) templ.SafeURL {
	if !linked(href) {
		return "#"
	}
	return templ.SafeURL(href)
}

// bitmap gives the URL of an image that may be shown: base64 data of a bitmap format, nothing else.
func bitmap(url string) (string, bool) {
	for _, kind := range [...]string{"png", "jpeg", "gif", "webp"} {
		if data, ok := strings.CutPrefix(url, "data:image/"+kind+";base64,"); ok {
			_, err := base64.StdEncoding.DecodeString(data)
			return url, err == nil && data != ""
		}
	}
	return "", false
}

// join puts class names together; empty ones leave no trace.
func join(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		if name == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(name)
	}
	return b.String()
}

// when gives a class name on a condition.
func when(on bool, name string) string {
	if on {
		return name
	}
	return ""
}

// look is the class of a text.
func look(t view.Text) string { return join(when(t.Mono, "mono"), when(t.Muted, "muted")) }

// number is the short form of a coordinate or share.
func number(f float64) string {
	return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64)
}

// percent is a coordinate as a share of the width.
func percent(part float64) string { return number(part*100) + "%" }

// unit keeps a share between 0 and 1; what is no number is nothing.
func unit(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return min(max(f, 0), 1)
}

func decimal(n int) string { return strconv.Itoa(n) }

// more says how much of a text is folded away.
func more(n int, of string) string { return "+ " + view.Group(n) + " " + of }

// nothing tells whether a text is empty.
func nothing(t view.Text) bool { return t.Text == "" && t.Mark == view.NoMark }

// chosen counts the values that are on.
func chosen(list []view.Choice) int {
	n := 0
	for _, c := range list {
		if c.On {
			n++
		}
	}
	return n
}

// truth writes a truth value of ARIA.
func truth(on bool) string {
	if on {
		return "true"
	}
	return "false"
}
