package verify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/batch"
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/value"
)

// manifests reads the batch manifests, those found in the folder and those given.
func (f *folder) manifests(found map[int][]byte) error {
	add := func(file File, text []byte, outside bool, status *File) {
		m := BatchManifest{Path: file.Path, dir: strings.TrimSuffix(directory(file.Path), "/"), outside: outside, status: status, Result: batch.Unreadable}
		if text != nil {
			m.SHA256 = batch.SHA256(text)
			m.manifest, m.Result, m.Faults = batch.ReadManifest(text)
		}
		f.report.Manifests = append(f.report.Manifests, m)
		f.options.batches = f.options.batches || m.manifest != nil
	}
	statuses := map[string]int{}
	for i := range f.files {
		if e := &f.listing.Entries[i]; e.Kind == runfolder.BatchStatus {
			statuses[directory(f.files[i].Path)] = i
		}
	}
	for i := range f.files {
		if text, ok := found[i]; ok && f.listing.Entries[i].Kind == runfolder.BatchManifest {
			var status *File
			if at, ok := statuses[directory(f.files[i].Path)]; ok {
				status = &f.files[at]
			}
			add(f.files[i], text, false, status)
		}
	}
	for _, g := range f.options.Manifests {
		at := slices.IndexFunc(f.files, func(file File) bool { return file.Path == g.Path })
		if at >= 0 && found[at] != nil {
			continue
		}
		text, err := f.text(g.File)
		if err != nil {
			text = nil
		}
		add(g.File, text, at < 0, g.Status)
	}
	slices.SortStableFunc(f.report.Manifests, func(a, b BatchManifest) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

func directory(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// batches pairs batch manifests with runs and holds them against each other.
func (f *folder) batches() error {
	accompanied := map[string]bool{} // statuses beside a manifest that belongs to a run
	for i := range f.report.Manifests {
		m := &f.report.Manifests[i]
		switch m.Result {
		case batch.Unreadable:
			f.report.Findings = append(f.report.Findings, finding.New(finding.BatchUnreadable, "", m.Path))
		case batch.Malformed:
			f.report.Findings = append(f.report.Findings, finding.New(finding.BatchMalformed, "", m.Path))
		case batch.Invalid:
			f.report.Findings = append(f.report.Findings, finding.New(finding.BatchInvalid, "", m.Path, value.M("errors", faultValues(m.Faults))))
		}
		p := f.pair(m)
		if p == nil {
			continue
		}
		m.Run = p.Key
		if m.status != nil {
			accompanied[m.status.Path] = true
		}
		if err := f.hold(m, p); err != nil {
			return err
		}
	}
	for i := range f.files {
		if e := &f.listing.Entries[i]; e.Kind == runfolder.BatchStatus && !accompanied[f.files[i].Path] {
			f.report.Findings = append(f.report.Findings, finding.New(finding.StatusAlone, "", f.files[i].Path))
		}
	}
	return nil
}

// pair finds the run that a batch manifest belongs to (spec run-commands §7.13), nil if there is none.
func (f *folder) pair(m *BatchManifest) *part {
	if m.manifest == nil {
		return nil
	}
	var fitting, inputs []*part
	for _, p := range f.parts {
		o := p.run.Batch.Observation
		if o == nil {
			continue
		}
		inputs = append(inputs, p)
		if len(o.Errors) > 0 {
			continue
		}
		if _, fits := m.manifest.Validate(o, "", ""); fits {
			fitting = append(fitting, p)
		}
	}
	candidates := fitting
	if len(candidates) == 0 {
		candidates = inputs
	}
	if len(candidates) > 1 {
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(p *part) bool { return m.outside || p.dir != m.dir })
	}
	if len(candidates) != 1 {
		return nil
	}
	return candidates[0]
}

// hold holds a run against its batch manifest, and a saved status against both.
func (f *folder) hold(m *BatchManifest, p *part) error {
	run := p.run
	o := run.Batch.Observation
	if len(o.Errors) > 0 {
		for i := range o.Errors {
			run.Findings = append(run.Findings, o.Errors[i].Finding(run.Key, run.Place.Inputs))
		}
	} else {
		list, _ := m.manifest.Validate(o, run.Key, m.Path)
		run.Findings = append(run.Findings, list...)
	}
	aggregate := batch.NoAggregate()
	text, _, err := f.companion(p, runfolder.AggregateMetrics)
	if err != nil {
		return err
	}
	if text != nil {
		aggregate = batch.ReadAggregate(text)
	}
	tally, interrupted := run.progress()
	members := m.manifest.Derive(o, tally, aggregate)
	first := run.Batch.Manifest == ""
	if first {
		run.Batch.Manifest, run.Batch.Members = m.Path, members
	}
	if m.status == nil {
		return nil
	}
	if text, err = f.text(*m.status); err != nil {
		return err
	}
	check := m.manifest.Compare(text, m.SHA256, members, interrupted, run.Key, m.status.Path)
	run.Findings = append(run.Findings, check.Findings...)
	if first {
		run.Batch.StatusPath, run.Batch.Status = m.status.Path, check
	}
	return nil
}

// progress counts what a batch status counts. Rows of a run without index were counted while they were read.
func (r *RunReport) progress() (*batch.Tally, batch.Interrupted) {
	type key struct{ agent, class string }
	unknown := map[key]int64{}
	interrupted := func(agent, class string) int64 { return unknown[key{agent, class}] }
	if r.Dialect == Legacy || r.Index == nil {
		if r.Batch.tally == nil {
			return new(batch.Tally), interrupted
		}
		return r.Batch.tally, interrupted
	}
	tally := new(batch.Tally)
	take := func(i int, a records.Attempt, f func(agent, pair string)) {
		e := r.Index.Rollout(i, r.Settings)
		agent, ok := r.Index.AgentOf(i, a.Number)
		if ok && !null([]byte(e.Task)) && !null([]byte(e.Index)) {
			f(agent, records.Pair(e.Task, e.Index))
		}
	}
	r.Index.Selection(records.Success, func(i int, a records.Attempt) { take(i, a, tally.Completed) })
	r.Index.ZeroCandidates(func(i int, a records.Attempt) {
		take(i, a, func(agent, pair string) { tally.Failed(agent, pair, falsyEmpty(a.Class)) })
	})
	for i := range r.Index.Len() {
		if e := r.Index.Rollout(i, r.Settings); e.Disposition != records.Unknown {
			continue
		}
		a, ok := r.Index.Newest(i)
		if !ok || a.Class == "" {
			continue
		}
		if agent, ok := r.Index.AgentOf(i, a.Number); ok {
			unknown[key{agent, cmp.Or(falsyEmpty(a.Class), "unknown")}]++
		}
	}
	return tally, interrupted
}
