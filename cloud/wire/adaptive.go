package wire

import (
	"math"
	"time"
)

// The constants of the control loop (RFC 9438, as AWS SDKs have it in their adaptive retry mode): a refusal multiplies the rate by
// cubicBeta; then it grows along a cubic curve that is flat around the rate at which the refusal came. The SDK's scale of 0.4 is back at
// that rate after two seconds and refused again every five; a process that serves a whole account takes more time.
const (
	cubicBeta  = 0.7
	cubicScale = 0.005
	// cubicCalls is the minimum number of calls until the rate is back, so that few of them are refused where the limit is low.
	cubicCalls = 20
	// minRate is the rate below which no refusal leads: a call every two seconds finds out when the cloud has recovered.
	minRate = 0.5
	// rateWindow is the time over which sent calls are counted, rateSmooth the weight of the last window.
	rateWindow = 2 * time.Second
	rateSmooth = 0.8
	// activeGap bounds the time between two calls that counts as use.
	activeGap = time.Second
)

// learner finds the rate of a bucket whose limit the cloud does not publish. It starts at max, the highest rate.
type learner struct {
	max float64
	// cut is when the rate was lowered last; zero if it never was. peak is the rate before that, active for how long calls were sent since:
	// a bucket that is not used finds nothing out about the cloud, so that its rate does not grow meanwhile.
	cut    time.Time
	peak   float64
	active time.Duration
	// last is when the last call was sent; count are the calls since window began, measured the smoothed rate of calls.
	last, window time.Time
	count        float64
	measured     float64
}

// rate returns the calls a second that the bucket may send now.
func (l *learner) rate() float64 {
	if l.cut.IsZero() {
		return l.max
	}
	// k is the time after which the curve is back at the peak.
	k := max(math.Cbrt(l.peak*(1-cubicBeta)/cubicScale), cubicCalls/l.peak)
	grown := l.peak + l.peak*(1-cubicBeta)*math.Pow(l.active.Seconds()/k-1, 3)
	return min(max(grown, minRate), l.max)
}

// sent counts a call.
func (l *learner) sent(now time.Time) {
	if gap := now.Sub(l.last); !l.last.IsZero() && gap > 0 {
		l.active += min(gap, activeGap)
	}
	l.last = now
	if l.window.IsZero() {
		l.window = now
	}
	if past := now.Sub(l.window); past >= rateWindow {
		l.measured = rateSmooth*l.count/past.Seconds() + (1-rateSmooth)*l.measured
		l.window, l.count = now, 0
	}
	l.count++
}

// throttled lowers the rate after a refusal, and reports whether it did. A rate that was not used is at least halved first. Calls that
// were on their way when the rate was lowered say nothing about the new one.
func (l *learner) throttled(sent, now time.Time) bool {
	if !l.cut.IsZero() && !sent.After(l.cut) {
		return false
	}
	rate := l.rate()
	// At the beginning of a burst measured tells of the time before it: the calls since the window began count too, as those of a whole
	// window at least.
	if used := max(l.measured, l.count/max(now.Sub(l.window), rateWindow).Seconds()); used > 0 {
		rate = min(rate, max(used, rate/2))
	}
	l.cut, l.peak, l.active = now, rate, 0
	return true
}
