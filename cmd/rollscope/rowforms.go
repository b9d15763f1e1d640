package main

import (
	"bufio"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/source"
)

// A rowForm says how the rows command writes its rows.
type rowForm struct {
	json, raw, csv, tsv bool
}

// printRaw writes rows as the bytes that stand in their files, each with a line feed behind it.
func printRaw(w io.Writer, j *judged, ordinals []int) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	sources, _ := j.sources()
	for _, ordinal := range ordinals {
		row, _ := j.table.Row(ordinal)
		if int64(cap(line)) < row.Length {
			line = make([]byte, row.Length)
		}
		line = line[:row.Length]
		if err := source.ReadFull(sources[row.Source], line, row.Offset); err != nil {
			return err
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Flush()
}

var rowColumns = []struct {
	title  string
	number bool
}{
	{"file", false}, {"line", true}, {"task_index", true}, {"rollout_index", true}, {"stage_index", true}, {"rollout_id", false}, {"agent", false},
	{"reward", true}, {"verdict", false}, {"checks", false}, {"task_checks", false}, {"unobserved", false},
}

// printCells writes rows as a table, comma-separated as spreadsheets read it or separated by tabs.
func printCells(w io.Writer, j *judged, ordinals []int, tabs bool) error {
	out := csv.NewWriter(w)
	write := out.Write
	var plain *bufio.Writer
	if tabs {
		// There are no quotes in such a file: what would end a field is a space.
		plain = bufio.NewWriter(w)
		clean := strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")
		write = func(cells []string) error {
			for i, c := range cells {
				if i > 0 {
					plain.WriteByte('\t')
				}
				plain.WriteString(clean.Replace(c))
			}
			return plain.WriteByte('\n')
		}
	}
	cells := make([]string, len(rowColumns))
	for i, c := range rowColumns {
		cells[i] = c.title
	}
	if err := write(cells); err != nil {
		return err
	}
	for _, ordinal := range ordinals {
		row, _ := j.table.Row(ordinal)
		digest, err := row.Digest()
		if err != nil {
			return err
		}
		d, err := documentOfRow(j, &row)
		if err != nil {
			return err
		}
		key := func(b []byte) string {
			if string(b) == "null" {
				return ""
			}
			return string(b)
		}
		for i, text := range []string{
			d.File, strconv.FormatInt(d.Line, 10), key(d.Task), key(d.Rollout), key(d.Stage), d.ID, digest.Facts.Agent, digest.Facts.Reward, d.Verdict,
			strings.Join(d.Checks, " "), strings.Join(d.TaskChecks, " "), strings.Join(d.Unobserved, " "),
		} {
			cells[i] = csvText(text, rowColumns[i].number)
		}
		if err := write(cells); err != nil {
			return err
		}
	}
	if tabs {
		return plain.Flush()
	}
	out.Flush()
	return out.Error()
}
