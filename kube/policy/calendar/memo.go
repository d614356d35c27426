package calendar

import (
	"slices"
	"sync/atomic"
	"time"
)

const (
	// Horizon bounds how far At looks ahead. It is longer than a leap year, so that a window that a yearly freeze covers is found.
	Horizon = 400 * 24 * time.Hour
	// Lookback bounds how far At looks back.
	Lookback = 32 * 24 * time.Hour
	// epoch is the length of the period of times that are answered from one timeline.
	epoch = 64 * 24 * time.Hour
	// memoized is the maximum number of timelines that are kept for a reason. A pass asks for the present, a forecast for a few weeks ahead.
	memoized = 4
)

// memo keeps timelines, because building one takes as long as thousands of look-ups. It changes no answer.
type memo struct {
	build func(r Reason, from, to int64) *timeline
	// kept are by reason; the last one is for any reason.
	kept [reasons + 1]atomic.Pointer[[]numbered]
}

// numbered is the timeline of an epoch.
type numbered struct {
	number int64
	*timeline
}

// at returns the timeline with which times near t are answered: it reaches from Lookback before to Horizon after them.
func (m *memo) at(t int64, r Reason) *timeline {
	number := t / int64(epoch)
	if t < 0 {
		number--
	}
	kept := m.kept[r].Load()
	if kept != nil {
		for _, k := range *kept {
			if k.number == number {
				return k.timeline
			}
		}
	}
	begin := number * int64(epoch)
	built := m.build(r, begin-int64(Lookback), begin+int64(epoch)+int64(Horizon))
	next := []numbered{{number, built}}
	if kept != nil {
		next = append(next, (*kept)[:min(len(*kept), memoized-1)]...)
	}
	m.kept[r].CompareAndSwap(kept, new(slices.Clip(next))) // if another one was faster, its timelines are kept
	return built
}
