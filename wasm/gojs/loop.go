package gojs

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrDeadlock is wrapped by the error of [Instance.Run] when the guest waits
// and nothing is left that could wake it.
var ErrDeadlock = errors.New("deadlock: the guest waits for nothing that can happen")

// loop is the event loop of an instance: timers, microtasks, and tasks posted by
// other goroutines.
type loop struct {
	active int // tasks on the stack
	micro  []func(ctx context.Context) error

	timers    timerHeap
	timerByID map[int32]*timer
	nextTimer int32
	timerSeq  uint64

	mu      sync.Mutex
	posted  []func(ctx context.Context) error
	pending int           // results that goroutines of the host still owe
	wake    chan struct{} // a token for each time that posted was filled
}

func newLoop() loop {
	return loop{timerByID: map[int32]*timer{}, nextTimer: 1, wake: make(chan struct{}, 1)}
}

type timer struct {
	id    int32
	due   time.Duration // on the clock's Elapsed
	seq   uint64        // order among timers due at the same moment
	guest bool          // of the guest's runtime, not of setTimeout
	run   func(ctx context.Context) error
	index int // in the heap, -1 when not there
}

type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	return h[i].due < h[j].due || h[i].due == h[j].due && h[i].seq < h[j].seq
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}

// addTimer makes a timer that runs once and is forgotten when it has run.
func (in *Instance) addTimer(delay time.Duration, run func(ctx context.Context) error) *timer {
	for in.timerByID[in.nextTimer] != nil || in.nextTimer <= 0 {
		if in.nextTimer++; in.nextTimer <= 0 {
			in.nextTimer = 1
		}
	}
	t := &timer{id: in.nextTimer, run: run, index: -1}
	in.nextTimer++
	in.rearm(t, delay)
	return t
}

// addGuestTimer makes a timer that wakes the guest. The guest's runtime clears
// it when it has seen that the time has come; until then it is woken again.
func (in *Instance) addGuestTimer(delay time.Duration) int32 {
	var t *timer
	t = in.addTimer(delay, func(ctx context.Context) error {
		in.timerByID[t.id] = t
		err := in.runGuest(ctx, "resume")
		if in.timerByID[t.id] == t && t.index < 0 {
			in.rearm(t, time.Millisecond)
		}
		return err
	})
	t.guest = true
	return t.id
}

func (in *Instance) rearm(t *timer, delay time.Duration) {
	in.timerSeq++
	t.due, t.seq = in.clock.Elapsed()+delay, in.timerSeq
	in.timerByID[t.id] = t
	heap.Push(&in.timers, t)
}

func (in *Instance) clearTimer(id int32, guest bool) {
	t := in.timerByID[id]
	if t == nil || t.guest != guest {
		return
	}
	delete(in.timerByID, id)
	if t.index >= 0 {
		heap.Remove(&in.timers, t.index)
	}
}

// microtask queues work for the end of the current task.
func (in *Instance) microtask(f func(ctx context.Context) error) { in.micro = append(in.micro, f) }

// task runs f as a task of the event loop. Inside another task it is only a
// nested call, and the microtasks wait for the outer one.
func (in *Instance) task(ctx context.Context, f func(ctx context.Context) error) error {
	in.active++
	err := f(ctx)
	if in.active == 1 {
		if stop := in.drain(ctx); stop != nil && err == nil {
			err = stop
		}
	}
	in.active--
	return err
}

// drain runs the microtasks, those that they add as well.
func (in *Instance) drain(ctx context.Context) error {
	for n := 0; n < len(in.micro); n++ {
		if err := in.alive(); err != nil {
			in.micro = nil
			return err
		}
		if err := ctx.Err(); err != nil {
			in.micro = append(in.micro[:0], in.micro[n:]...)
			return err
		}
		f := in.micro[n]
		in.micro[n] = nil
		in.report(f(ctx))
	}
	in.micro = in.micro[:0]
	return in.alive()
}

// report prints an exception that no guest code can catch any more, as a
// browser's console does.
func (in *Instance) report(err error) {
	if err != nil && in.alive() == nil {
		fmt.Fprintf(in.stderr, "Uncaught %v\n", err)
	}
}

// Post queues a task. It may be called from any goroutine; the task runs inside
// Run or Settle, which return its error.
func (in *Instance) Post(task func(ctx context.Context) error) { in.post(task, 0) }

func (in *Instance) post(task func(ctx context.Context) error, paid int) {
	in.mu.Lock()
	in.posted = append(in.posted, task)
	in.pending -= paid
	in.mu.Unlock()
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// background runs work on a goroutine of its own and then done as a task. Until
// then the loop knows that something is still to come.
func (in *Instance) background(work func(), done func(ctx context.Context) error) {
	in.mu.Lock()
	in.pending++
	in.mu.Unlock()
	go func() {
		work()
		in.post(done, 1)
	}()
}

// Async runs work on a goroutine of its own and returns a promise of its
// result. The work must not use the instance, except to make new objects.
func (in *Instance) Async(work func() (Value, error)) *Object {
	p := in.realm.newPromise()
	var v Value
	var err error
	in.background(func() { v, err = work() }, func(context.Context) error {
		if err != nil {
			in.realm.reject(p, in.realm.thrown(err))
		} else {
			in.realm.resolve(p, norm(v))
		}
		return nil
	})
	return p
}

// turn runs one task that is ready, if there is one.
func (in *Instance) turn(ctx context.Context) (ran bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if in.active == 0 && len(in.micro) > 0 { // left by a task that was cancelled
		return true, in.task(ctx, func(context.Context) error { return nil })
	}
	in.mu.Lock()
	var f func(ctx context.Context) error
	if len(in.posted) > 0 {
		f = in.posted[0]
		in.posted = append(in.posted[:0], in.posted[1:]...)
	}
	in.mu.Unlock()
	if f != nil {
		err := in.task(ctx, f)
		if dead := in.alive(); dead != nil {
			err = dead
		}
		return true, err
	}
	if len(in.timers) == 0 || in.timers[0].due > in.clock.Elapsed() {
		return false, nil
	}
	t := heap.Pop(&in.timers).(*timer)
	delete(in.timerByID, t.id)
	err = in.task(ctx, t.run)
	if dead := in.alive(); dead != nil {
		return true, dead
	}
	if ctx.Err() == nil {
		in.report(err)
	}
	return true, ctx.Err()
}

// pump runs tasks until the guest ends, or until nothing is left to wait for;
// only in the latter case it returns nil.
func (in *Instance) pump(ctx context.Context) error {
	if in.active > 0 {
		return errors.New("the event loop is already running")
	}
	for {
		if err := in.alive(); err != nil {
			return err
		}
		if ran, err := in.turn(ctx); ran || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		in.mu.Lock()
		waiting, ready := in.pending > 0, len(in.posted) > 0
		in.mu.Unlock()
		switch {
		case ready:
		case len(in.timers) > 0:
			if err := in.clock.Wait(ctx, in.timers[0].due-in.clock.Elapsed(), in.wake); err != nil {
				return err
			}
		case waiting:
			select {
			case <-in.wake:
			case <-ctx.Done():
				return ctx.Err()
			}
		default:
			return nil
		}
	}
}

// Run runs the event loop until the guest exits: nil for exit code 0, an
// *[ExitError] for another. When the guest still waits but nothing can wake it,
// the guest's runtime is told so, prints the stacks of its goroutines and exits
// with code 2, and the error wraps [ErrDeadlock].
func (in *Instance) Run(ctx context.Context) error {
	err := in.pump(ctx)
	if err == nil {
		event := in.NewObject()
		event.Set("id", Number(0)) // the number of no function: only a deadlock has it
		in.goObj.Set("_pendingEvent", event)
		_ = in.task(ctx, func(ctx context.Context) error { return in.runGuest(ctx, "resume") })
		return fmt.Errorf("gojs: run: %w", ErrDeadlock)
	}
	if in.exited && in.code == 0 {
		return nil
	}
	return fmt.Errorf("gojs: run: %w", err)
}

// Settle runs the event loop until nothing is left to do: no timer, no posted
// task, no asynchronous result. It is for guests that wait to be called. The
// error wraps an *[ExitError] when the guest exits, with any code.
func (in *Instance) Settle(ctx context.Context) error {
	if err := in.pump(ctx); err != nil {
		return fmt.Errorf("gojs: settle: %w", err)
	}
	return nil
}
