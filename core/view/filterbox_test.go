package view

import (
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/view/filter"
)

func TestFields(t *testing.T) {
	if err := FilterFields().Check(); err != nil {
		t.Error(err)
	}
	d, _ := sampleDesk(t)
	i, _ := d.choose(State{}).item(0)
	for _, f := range FilterFields() {
		i.Field(f.Name) // has a case or is missing; must not panic
	}
}

func TestOffers(t *testing.T) {
	d, _ := sampleDesk(t)
	inserts := func(text string) string {
		o := d.Offer(State{}, text, len(text))
		if o.After != "" || !strings.HasPrefix(text, o.Before) {
			t.Errorf("%q: %q … %q", text, o.Before, o.After)
		}
		var list []string
		for _, item := range o.Items {
			list = append(list, o.Before+item.Insert)
		}
		return "|" + strings.Join(list, "|") + "|"
	}
	for text, want := range map[string]string{
		"ver":                      "|verdict|",
		"verdict":                  "|verdict:|",
		"verdict:":                 "|verdict:healthy|",
		"verdict:un":               "|verdict:unhealthy|verdict:unobserved|",
		"verdict:healthy":          "|verdict:healthy and |",
		"agent:":                   "|agent:hermes|",
		"file:":                    "|file:rollouts.jsonl|",
		"check:model_call_f":       "|check:model_call_failed|",
		"reward=1 and age":         "|reward=1 and agent|",
		"masked":                   "|masked or |",
		"tas":                      "|task.solved|",
		"verdict:unhealthy and no": "|verdict:unhealthy and not |",
	} {
		if got := inserts(text); !strings.Contains(got, want) {
			t.Errorf("%q: %s lacks %s", text, got, want)
		}
	}
	for _, text := range []string{"verdict:healthy", "verdict", "ma", "reward>", "check:"} {
		o := d.Offer(State{}, text, len(text))
		for _, item := range o.Items {
			if item.Class != "value" && item.Class != "word" {
				continue
			}
			if _, err := filter.Parse(strings.TrimRight(o.Before+item.Insert+o.After, " "), FilterFields()); err != nil && item.Class == "value" {
				t.Errorf("%q + %q: %v", text, item.Insert, err)
			}
		}
	}
	for _, at := range []int{-1, 3, 99} {
		d.Offer(State{}, "verdict:healthy", at)
		new(Desk).Offer(State{}, "ü", at)
	}
}

func TestMistakes(t *testing.T) {
	d, _ := sampleDesk(t)
	p, _ := page(t, d, "filter=verdict:healthy agnet:hermes")
	f := p.Filter
	if f.ErrorAt != 16 || f.Fix.Text != "agent" || strings.Contains(f.Error, "did you mean") || f.Shown != f.Total || len(f.Chips) > 0 {
		t.Errorf("%+v", f)
	}
	there, _ := page(t, d, f.Fix.Href)
	if there.Filter.Error != "" || there.Filter.Text != "verdict:healthy agent:hermes" || len(there.Filter.Chips) != 2 {
		t.Errorf("%+v", there.Filter)
	}
	// Chips and text are two forms of one value: without each of them the other is left.
	for i, c := range there.Filter.Chips {
		less, _ := page(t, d, c.Remove)
		if len(less.Filter.Chips) != 1 || less.Filter.Chips[0].Text != there.Filter.Chips[1-i].Text {
			t.Errorf("without %s: %+v", c.Text, less.Filter)
		}
	}
}

// Every key does one thing, and every tab has one.
func TestCommands(t *testing.T) {
	keys, tabs := map[string]string{}, map[string]bool{}
	for _, c := range Commands() {
		if c.Title == "" || c.Run == "" || len(c.Keys) == 0 || c.Name() == "" {
			t.Errorf("%+v", c)
		}
		for _, chord := range c.Keys {
			if other, taken := keys[chord]; taken {
				t.Errorf("%s runs %s and %s", chord, other, c.Run)
			}
			keys[chord] = c.Run
		}
		if id, ok := strings.CutPrefix(c.Run, "tab "); ok {
			tabs[id] = true
		}
	}
	for chord := range keys {
		// A chord that begins another one would never let it be typed.
		if first, _, two := strings.Cut(chord, " "); two && keys[first] != "" {
			t.Errorf("%s begins with %s, which runs %s", chord, first, keys[first])
		}
	}
	for _, tab := range Tabs {
		if !tabs[tab.ID] {
			t.Errorf("no key leads to %s", tab.ID)
		}
	}
	if name := (Command{Keys: []string{"g o", "ArrowDown", "Control+k"}}).Name(); name != "g o  ↓  Ctrl-K" {
		t.Error(name)
	}
}
