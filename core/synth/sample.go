package synth

import (
	"slices"
	"strings"
	"sync"
)

// File is one file of a run folder. Its data is shared and must not be changed.
type File struct {
	Name string
	Data []byte
}

// Sample returns the files of the sample run: one small, readable evaluation of
// three imaginary terminal agents. Most of its rollouts are healthy; every check
// fires at least once, and some rollouts cannot be judged. It is made when it is
// first asked for, and is the same every time.
func Sample() []File { return slices.Clone(sampleFiles()) }

var sampleFiles = sync.OnceValue(func() []File {
	return []File{{Name: "rollouts.jsonl", Data: makeSample()}}
})

// episode is one rollout of the sample run.
type episode struct {
	task, repeat int
	script       int
	reward       int
	kind         Kind
	quirk        quirk
	masked       string // failure kind of a result that must not be scored
	copies       int    // how often the row was written, beyond once
	cut          bool   // a first write of the row was cut in the middle
}

// quirk is something worth seeing that is no fault of the rollout.
type quirk uint8

const (
	plainRollout quirk = iota
	unansweredCall
	orphanOutput
	tokenIDs
	logProbs
	judged       // a judge used the captured model server too
	secondClaims // a second agent claims calls of the first
)

// The tasks by position in sampleTasks.
const (
	taskCron = iota
	taskGuestbook
	taskRetry
	taskNginx
	taskNames
	taskReport
	taskMirror
	taskTar
	taskMatrix
	taskPlot
	taskSurvey
	taskQuota
)

// sampleEpisodes is the plan of the sample run, in the order of dispatch.
var sampleEpisodes = []episode{
	{task: taskCron, repeat: 0, script: 0, reward: 1},
	{task: taskCron, repeat: 1, script: 1},
	{task: taskCron, repeat: 2, script: 2, kind: EndedFailed},
	{task: taskCron, repeat: 3, script: 0, quirk: unansweredCall},
	{task: taskGuestbook, repeat: 0, script: 0, reward: 1},
	{task: taskGuestbook, repeat: 1, script: 2, reward: 1, kind: CaptureGap},
	{task: taskGuestbook, repeat: 2, script: 1, masked: "sandbox_lost"},
	{task: taskGuestbook, repeat: 3, script: 2, reward: 1, kind: NoTrajectory},
	{task: taskRetry, repeat: 0, script: 0, reward: 1},
	{task: taskRetry, repeat: 1, script: 1, reward: 1, kind: Retried},
	{task: taskRetry, repeat: 2, script: 2},
	{task: taskRetry, repeat: 3, script: 2, kind: Runaway},
	{task: taskNginx, repeat: 0, script: 0, reward: 1},
	{task: taskNginx, repeat: 1, script: 1},
	{task: taskNginx, repeat: 2, script: 2, reward: 1, quirk: judged},
	{task: taskNginx, repeat: 3, script: 2, reward: 1, cut: true},
	{task: taskNames, repeat: 0, script: 0, reward: 1},
	{task: taskNames, repeat: 1, script: 2, reward: 1, quirk: orphanOutput},
	{task: taskNames, repeat: 2, script: 2, reward: 1, kind: TokenMismatch},
	{task: taskNames, repeat: 3, script: 1, kind: LostCall, quirk: secondClaims},
	{task: taskReport, repeat: 0, script: 2, reward: 1, quirk: tokenIDs},
	{task: taskReport, repeat: 1, script: 1, kind: TurnsGap},
	{task: taskReport, repeat: 2, script: 2, kind: ZeroCompletion},
	{task: taskReport, repeat: 3, script: 2, reward: 1, kind: BadTrajectory},
	{task: taskMirror, repeat: 0, kind: AllFailed},
	{task: taskMirror, repeat: 1, kind: AllFailed},
	{task: taskTar, repeat: 0, script: 1, reward: 1},
	{task: taskTar, repeat: 1, script: 1, reward: 1, copies: 1},
	{task: taskTar, repeat: 2, script: 2},
	{task: taskTar, repeat: 3, script: 1, reward: 1, kind: Uncounted},
	{task: taskMatrix, repeat: 0, script: 0, reward: 1},
	{task: taskMatrix, repeat: 1, script: 1},
	{task: taskMatrix, repeat: 2, script: 1, kind: NoTurns},
	{task: taskPlot, repeat: 0, script: 0, reward: 1},
	{task: taskPlot, repeat: 1, script: 1, reward: 1, quirk: logProbs},
	{task: taskPlot, repeat: 2, script: 1, masked: "verifier_timeout"},
	{task: taskPlot, repeat: 3, script: 1, kind: CheckError},
	{task: taskSurvey, repeat: 0, script: 2, reward: 1},
	{task: taskSurvey, repeat: 1, script: 1},
	{task: taskSurvey, repeat: 2, script: 2, reward: 1, kind: DoubledCall},
	{task: taskSurvey, repeat: 3, script: 2, reward: 1},
	{task: taskQuota, repeat: 0, script: 0, reward: 1},
	{task: taskQuota, repeat: 1, script: 1, reward: 1},
}

const (
	sampleSeed  = 2026
	sampleStart = 1_771_362_300_000 // Unix milliseconds
	sampleSlots = 6                 // rollouts at a time
)

// makeSample plays all episodes on a few slots and writes the rows in the order
// in which they ended.
func makeSample() []byte {
	type ended struct {
		at   int64
		line []byte
	}
	var rows []ended
	var slots [sampleSlots]int64
	for i := range slots {
		slots[i] = sampleStart + int64(i)*350
	}
	for n := range sampleEpisodes {
		e := &sampleEpisodes[n]
		slot := 0
		for i, free := range slots {
			if free < slots[slot] {
				slot = i
			}
		}
		for again := range 1 + e.copies {
			line, at := playEpisode(e, slots[slot]+120, again)
			if e.cut {
				// The writer died here; the resumed run played the rollout again.
				rows = append(rows, ended{at - 25_000, line[:len(line)*2/5]})
			}
			rows = append(rows, ended{at, line})
			slots[slot] = at
		}
	}
	slices.SortStableFunc(rows, func(a, b ended) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	var data []byte
	for _, r := range rows {
		data = append(append(data, r.line...), '\n')
	}
	return data
}

// samplePicture is a chart of six bars, 40 by 24 pixels.
const samplePicture = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACgAAAAYAgMAAAD16ldTAAAADFBMVEX///8LXK2zWAobHyREhmvcAAAAK0lEQVR42mPgYYAD/EymFfiYQBorU9QJjQmWxcIE0niYEJoCJv9/GMDuTQDbojCf0QJRjQAAAABJRU5ErkJggg=="

// buildLog is the output of a build of many variants, longer than a page shows
// at once.
func buildLog() string {
	var b strings.Builder
	for i, arch := range []string{"x86_64", "arm64", "riscv64"} {
		for j, libc := range []string{"glibc", "musl"} {
			for k, mode := range []string{"release", "debug"} {
				name := arch + "-" + libc + "-" + mode
				for unit, source := range strings.Fields("core/arena.c core/map.c io/reader.c net/frame.c cli/main.c") {
					b.WriteString("  CC  [" + name + "] " + source + "\n")
					if libc == "musl" && mode == "debug" && i > 0 && unit == 3 {
						b.WriteString("net/frame.c:88:17: error: call to undeclared function 'backtrace'\n")
					}
				}
				if libc == "musl" && mode == "debug" && i > 0 {
					b.WriteString("FAIL " + name + "\n")
				} else {
					b.WriteString("  OK  " + name + " in " + string(appendDecimal(nil, int64(4100+i*730+j*190+k*77), 3)) + " s\n")
				}
			}
		}
	}
	return b.String()
}
