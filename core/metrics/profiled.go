package metrics

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// The profile command writes its levels into files of their own (spec metrics §1). Each of them is read here as far as
// it goes, in the form that [Run.Agree] takes.

// ParseProfile reads a file of group rows, one JSON object a line. Errors wrap [ErrSaved].
func ParseProfile(text []byte) (*Saved, error) {
	// The lines become one array, so that one scan holds them all.
	list := append(make([]byte, 0, len(text)+2), '[')
	for line := range bytes.Lines(text) {
		if line = jsonl.Trim(line); len(line) == 0 {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, line...)
	}
	return parseRows(append(list, ']'), func(e *SavedEntry, v jsonscan.Value) {
		e.Groups = append(e.Groups, SavedRow{v})
	})
}

// ParseAgents reads a file of agent rows, one JSON array. Errors wrap [ErrSaved].
func ParseAgents(text []byte) (*Saved, error) {
	return parseRows(text, func(e *SavedEntry, v jsonscan.Value) { e.Agent = savedValues(v) })
}

// ParseRepeats reads a file of repeat rows, one JSON array. Errors wrap [ErrSaved].
func ParseRepeats(text []byte) (*Saved, error) {
	return parseRows(text, func(e *SavedEntry, v jsonscan.Value) { e.Repeats = append(e.Repeats, SavedRow{v}) })
}

// parseRows makes an entry of the rows of each agent; rows that name none are about all agents.
func parseRows(text []byte, add func(*SavedEntry, jsonscan.Value)) (*Saved, error) {
	s := &Saved{Entries: []*SavedEntry{}}
	root, err := s.scanner.Scan(jsonl.Trim(text))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrSaved, err)
	case !root.IsArray():
		return nil, fmt.Errorf("%w: %s where an array was expected", ErrSaved, root.Kind())
	}
	at := map[string]*SavedEntry{}
	for e := root.Elements(); e.Next(); {
		if !e.Value.IsObject() {
			return nil, fmt.Errorf("%w: %s among its rows", ErrSaved, e.Value.Kind())
		}
		label := e.Value.Get("agent_ref").Get("name").Text()
		entry := at[label]
		if entry == nil {
			entry = &SavedEntry{Label: label, Part: true}
			at[label] = entry
			s.Entries = append(s.Entries, entry)
		}
		add(entry, e.Value)
	}
	if len(s.Entries) == 0 {
		return nil, fmt.Errorf("%w: it has no rows", ErrSaved)
	}
	for _, e := range s.Entries {
		e.Rules = e.judge()
	}
	return s, nil
}

// judge tells by whose rules a part was written: group rows say it by their rollout infos, everything by columns that
// later versions leave out.
func (e *SavedEntry) judge() Rules {
	if len(e.Groups) > 0 && !e.Groups[0].v.Get("rollout_infos").Exists() {
		return LineOrder
	}
	hidden := func(list []SavedValue) bool {
		for _, v := range list {
			if name, ok := strings.CutPrefix(v.Name, "mean/"); ok && (strings.HasPrefix(name, "_") || name == "mask_sample") {
				return true
			}
		}
		return false
	}
	old := hidden(e.Agent)
	for _, rows := range [...][]SavedRow{e.Groups, e.Repeats} {
		if len(rows) > 0 {
			old = old || hidden(rows[0].Values())
		}
	}
	if old {
		return Infos
	}
	return Current
}
