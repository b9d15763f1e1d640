package atif

import "testing"

func TestStamps(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-08-06": true, "2026-W32-4": true, "2026W324": true, "2026W32": true, "2026-W32": true, "20260806": true,
		"2026-08-06T16": true, "2026-08-06_16:02:34": true, "2026-08-06T16:02:34.1234567": true, "2026-08-06T16:02:34 Z": true,
		"2026-08-06T16:02:34+05": true, "2026-08-06T16:02:34-05:30:10": true, "2026-08-06T16:02:34+05:80": true,
		"2026-08-06T16:02:34Z": true, "2026-08-06T160234": true, "2026-08-06T1602": true, "2026-08-06T16:02:34,5": true, "2026-08-06Z": true,
		"2026-08-06T16:02:34.5+00:00": true, "2026-08-06T16:02:34x+01:00": true, "2024-02-29": true, "2026-W53-1": true, "2020-W53": true,
		"2026-08-06é16:02": true,
		"2026-08":          false, "2026-218": false, "2026-08-06T": false, "2026-08-06T24:00:00": false, "2026-08-06T16:60": false, "2026-08-06T16:02:60": false,
		"2026-08-06T16:02:34.": false, "2026-8-6": false, "2026-08-06T16:0234": false, "2026-08-06T16:02:34z": false, "2026-08-06T16:02:34+24:00": false, "": false,
		"2026-02-29": false, "0000-01-01": false, "2026-13-01": false, "2026-08-06T16:02:34x": false, "2026-W54": false, "2025-W53": false, "2026-W32-": false,
		"２０２６-08-06": false, "2026-08-06T1": false, "2026-08-06T16:": false,
	} {
		if _, ok := ParseStamp(text); ok != want {
			t.Errorf("%q: %t, want %t", text, ok, want)
		}
	}
	for text, want := range map[string]float64{"1970-01-01T00:00:01.5Z": 1.5, "1970-01-01T01:00:00+01:00": 0, "1970-01-02": 86400, "2023-11-14T22:13:20.250000Z": 1700000000.25} {
		if s, _ := ParseStamp(text); s.Unix() != want {
			t.Errorf("%q: %v, want %v", text, s.Unix(), want)
		}
	}
	for unix, want := range map[float64]string{1700000000.25: "2023-11-14T22:13:20.250000Z", 0: "1970-01-01T00:00:00Z", -1: "1969-12-31T23:59:59Z", 0.9999999: "1970-01-01T00:00:01Z", 1e12: "", -1e12: ""} {
		if got, _ := FormatStamp(unix); got != want {
			t.Errorf("%v: %q, want %q", unix, got, want)
		}
	}
}

// FuzzStamp looks for texts that the parser cannot take.
func FuzzStamp(f *testing.F) {
	f.Add("2026-W32-4T16:02:34.5-05:30")
	f.Fuzz(func(t *testing.T, text string) { ParseStamp(text) })
}
