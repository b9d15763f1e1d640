package transcript

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Markdown writes a rollout as a Markdown document. Everything that a model or a tool said stands in fenced blocks, so
// that none of it is markup; characters that cannot be seen are written as \u{…}.
func (t *Rollout) Markdown(title string, about []string) []byte {
	var m markdown
	fmt.Fprintf(&m.b, "# %s\n\n", escaped(title))
	for _, line := range about {
		fmt.Fprintf(&m.b, "- %s\n", escaped(line))
	}
	if source := t.Source(); source != "" {
		fmt.Fprintf(&m.b, "- %s\n", escaped(source))
	}
	t.Tree(&m)
	t.Tell(&m, 0)
	return []byte(m.b.String())
}

type markdown struct{ b strings.Builder }

func (m *markdown) Head(text string) { fmt.Fprintf(&m.b, "\n## %s\n", escaped(text)) }

func (m *markdown) Line(depth int, text string) {
	if depth == 1 {
		fmt.Fprintf(&m.b, "\n**%s**\n", escaped(text))
		return
	}
	if depth == 0 {
		fmt.Fprintf(&m.b, "- %s\n", escaped(text))
		return
	}
	fmt.Fprintf(&m.b, "\n%s\n", escaped(text))
}

func (m *markdown) Text(_ int, text string) {
	text = seen(text)
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	fmt.Fprintf(&m.b, "\n%stext\n%s\n%s\n", fence, strings.TrimSuffix(text, "\n"), fence)
}

// escaped makes a text one line of plain text.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range seen(strings.NewReplacer("\n", " ", "\t", " ").Replace(text)) {
		if strings.ContainsRune("\\`*_{}[]<>#|&!~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// seen writes what cannot be seen, or would change how a text is shown, by its number.
func seen(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n' || r == '\t' || r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}
