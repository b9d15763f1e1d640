package view

import "strings"

// transcriptSuffix ends the name of a transcript that is saved.
const transcriptSuffix = "-transcript.md"

// markdownFile names the transcript of a row. Names come from files, so nothing in them may be a folder.
func markdownFile(i *item) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, i.name())
	return name[:prefix(name, 100)] + transcriptSuffix
}

// markdown is the open rollout's transcript as a document.
func (d *Desk) markdown(s State) ([]byte, error) {
	_, i, needs, err := d.open(s)
	if err != nil {
		return nil, err
	}
	if len(needs) > 0 {
		return nil, errNotOpen
	}
	f := &i.digest.Facts
	about := []string{"place " + i.place(), "verdict " + i.verdict().String()}
	for _, one := range [...]struct{ name, text string }{{"name", f.Name}, {"agent", f.Agent}, {"reward", f.Reward}, {"prompt tokens", f.Prompt}, {"completion tokens", f.Completion}} {
		if one.text != "" {
			about = append(about, one.name+" "+one.text)
		}
	}
	for _, found := range i.list() {
		about = append(about, "finding "+found.Check+": "+d.findingView(i, s, 0, found).Sentence)
	}
	return d.talk(i, s).Markdown("Rollout "+i.name(), about), nil
}
