package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
)

// ticks is the unit of processor time in /proc, per second.
const ticks = 100

// counts are calls by cloud, service and operation.
type counts map[string]map[string]map[string]int

// total returns all calls to a cloud.
func (c counts) total(cloud string) (n int) {
	for _, operations := range c[cloud] {
		for _, k := range operations {
			n += k
		}
	}
	return n
}

// calls are the request logs of the simulated clouds, by name.
type calls struct{ at map[string]string }

// reset resets the counters.
func (c *calls) reset(ctx context.Context) (err error) {
	for _, at := range c.at {
		_, failed := get(ctx, http.MethodDelete, at+sim.AdminPath+"calls")
		err = errors.Join(err, failed)
	}
	return err
}

// read returns the calls since the last reset.
func (c *calls) read(ctx context.Context) (counts, error) {
	all := counts{}
	for cloud, at := range c.at {
		text, err := get(ctx, http.MethodGet, at+sim.AdminPath+"calls?after=9000000000000000000")
		if err != nil {
			return nil, err
		}
		var summary sim.CallSummary
		if err := json.Unmarshal(text, &summary); err != nil {
			return nil, fmt.Errorf("calls to %s: %w", cloud, err)
		}
		all[cloud] = summary.Counts
	}
	return all, nil
}

// get asks for a document.
func get(ctx context.Context, method, url string) (text []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if text, err = io.ReadAll(resp.Body); err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %s: %s", method, url, resp.Status, text)
	}
	return text, err
}

// usage holds the resources that a process has used so far, or between two moments.
type usage struct {
	name      string
	pid       int
	at        time.Time
	processor time.Duration
	// memory is the resident memory in bytes, peak its maximum, own the part that is not backed by the program file. This program includes API
	// servers and clouds, so that its file takes far more memory than the manager's.
	memory, peak, own int64
	// over is the time between the two moments.
	over time.Duration
}

// usage returns the usage of the world's processes so far.
func (b *bench) usage() (all []usage) {
	for _, c := range b.world.Children() {
		u := usage{name: c.Name, pid: c.PID, at: time.Now()}
		u.processor = processorTime(c.PID)
		memory(&u)
		all = append(all, u)
	}
	return all
}

// since returns the usage between two moments. A restarted process counts from its start.
func since(now, before []usage) []usage {
	for i := range now {
		now[i].over = now[i].at.Sub(before[i].at)
		if now[i].pid == before[i].pid {
			now[i].processor -= before[i].processor
		}
	}
	return now
}

// processorTime returns the processor time of a process from /proc, zero if it is unknown.
func processorTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	const user, system = 11, 12 // counted from the state, which follows the name
	if len(fields) <= system {
		return 0
	}
	return time.Duration(number(fields[user])+number(fields[system])) * time.Second / ticks
}

// memory sets the resident memory of a process from /proc.
func memory(u *usage) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", u.pid))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 2:
		case fields[0] == "VmRSS:":
			u.memory = number(fields[1]) << 10
		case fields[0] == "VmHWM:":
			u.peak = number(fields[1]) << 10
		case fields[0] == "RssAnon:":
			u.own = number(fields[1]) << 10
		}
	}
}

// load returns the load average of the last minute from /proc.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
