package view

import (
	"strconv"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
)

// factGroups are the facts column.
func (d *Desk) factGroups(c *selection, i *item, s State) []FactGroup {
	f := &i.digest.Facts
	id := &i.digest.Identity
	fact := func(label string, t Text) Fact { return Fact{Label: label, Value: t} }
	first := FactGroup{Title: "Verdict", Facts: []Fact{fact("verdict", verdictText(i.verdict()))}}
	first.Facts = append(first.Facts, fact("reward", numberCell(f.Reward, "the row has no reward").Text))
	if f.Masked {
		first.Facts = append(first.Facts, fact("measurement", Text{Text: "masked", Mark: MarkMasked}))
	}
	first.Facts = append(first.Facts, d.outcomeFacts(c, i, s)...)
	identity := FactGroup{Title: "Identity", Facts: []Fact{
		fact("task", keyCell(id.Task).Text), fact("repeat", keyCell(id.Rollout).Text),
	}}
	if !id.Stage.IsNone() {
		identity.Facts = append(identity.Facts, fact("stage", keyCell(id.Stage).Text))
	}
	if f.Name != "" {
		identity.Facts = append(identity.Facts, fact("name", Text{Text: f.Name}))
	}
	identity.Facts = append(identity.Facts, fact("rollout id", Text{Text: id.ID, Mono: true}))
	if f.Agent != "" {
		identity.Facts = append(identity.Facts, fact("agent", Text{Text: f.Agent}))
	}
	if f.Attempt != "" {
		identity.Facts = append(identity.Facts, fact("attempt", Text{Text: f.Attempt}))
	}
	identity.Facts = append(identity.Facts,
		fact("place", Text{Text: i.place(), Mono: true}),
		fact("bytes", Text{Text: Group(i.row.Offset) + " + " + Group(i.row.Length), Title: "offset of the line and its length"}))
	tokens := FactGroup{Title: "Tokens", Note: "the row's usage", Facts: []Fact{
		fact("prompt", numberCell(f.Prompt, "the row's usage does not say").Text),
		fact("completion", numberCell(f.Completion, "the row's usage does not say").Text),
	}}
	groups := []FactGroup{first, identity, tokens}
	if f.Turns >= 0 || f.Calls >= 0 {
		groups = append(groups, FactGroup{Title: "Trajectory", Facts: []Fact{
			fact("turns", countCell(f.Turns).Text), fact("model calls", countCell(f.Calls).Text), fact("failed calls", Text{Text: Group(i.failed())}),
		}})
	}
	if boxes := d.repeats(c, i, s); len(boxes) > 1 {
		groups = append(groups, FactGroup{Title: "Repeats of task " + id.Task.String(), Note: count(len(boxes), "row", "rows"), Facts: []Fact{}, Boxes: boxes})
	}
	return groups
}

// repeats are the rows of the same task, side by side.
func (d *Desk) repeats(c *selection, i *item, s State) []Box {
	if c.report == nil {
		return nil
	}
	var boxes []Box
	task := c.report.TaskOf(int(i.row.Ordinal))
	for ordinal := range c.report.Rows() {
		if task < 0 || c.report.TaskOf(ordinal) != task {
			continue
		}
		k, ok := c.item(ordinal)
		if !ok || len(boxes) == 64 {
			break
		}
		text := Text{Text: k.digest.Facts.Reward, Mark: Mark(k.verdict().String()), Href: d.toRow(s, c, ordinal),
			Title: "repeat " + k.digest.Identity.Rollout.String() + ", " + k.verdict().String()}
		if text.Text == "" {
			text.Text = Dash
		}
		boxes = append(boxes, Box{Value: text, Solved: solved(k.digest.Facts.Reward), Current: ordinal == int(i.row.Ordinal)})
	}
	return boxes
}

func solved(reward string) bool {
	f, err := strconv.ParseFloat(reward, 64)
	return err == nil && f == 1
}

func (d *Desk) findingView(i *item, s State, n int, f check.Finding) FindingView {
	v := FindingView{Check: f.Check, Sentence: sentence(f), Detail: []Pair{}}
	for _, fields := range [...][]check.Field{f.Locator, f.Detail, f.Aside} {
		for _, field := range fields {
			text := field.Value.String()
			if field.Value.Kind == check.Null {
				text = "null"
			}
			v.Detail = append(v.Detail, Pair{field.Name, text})
		}
	}
	if f.Place.Length > 0 {
		v.Detail = append(v.Detail, Pair{"bytes", Group(i.row.Offset+f.Place.Offset) + " + " + Group(f.Place.Length)})
	}
	where := Text{Text: "row", Href: toJSON(s, n)}
	switch {
	case f.Place.Turn >= 0:
		where.Text = "turn " + strconv.Itoa(f.Place.Turn+1)
	case f.Place.Call >= 0:
		where.Text = "call " + strconv.Itoa(f.Place.Call+1)
	}
	if f.Place.Pointer != "" {
		where.Title = f.Place.Pointer
	}
	v.Where = where
	return v
}

// unjudged lists the checks that could not be judged on a row.
func (c *selection) unjudged(i *item) []health.Unjudged {
	if c.report != nil {
		return c.report.Unobserved(int(i.row.Ordinal))
	}
	return c.rules.Unobserved(i.digest.Health)
}
