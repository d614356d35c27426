package main

import (
	"cmp"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"
)

// table prints what was measured.
func (b *bench) table() {
	w := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("\nphase\tpools\tp50 s\tp99 s\tlast s\tlate\tlost Ready\tcalls aws\tcalls azure\tcalls a minute")
	for _, p := range b.phases {
		all := p.calls.total("aws") + p.calls.total("azure")
		line("%s\t%d\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%.1f", p.name, p.pools, share100(p.took, 50), share100(p.took, 99), share100(p.took, 100),
			len(p.late), len(p.lost),
			p.calls.total("aws"), p.calls.total("azure"), float64(all)/p.lasted.Minutes())
	}
	line("\nphase\tprocess\tcore\tmemory MiB\town MiB\tpeak MiB")
	for _, p := range b.phases {
		for _, u := range p.processes {
			line("%s\t%s\t%.1f %%\t%d\t%d\t%d", p.name, u.name, 100*u.processor.Seconds()/max(1, u.over.Seconds()), u.memory>>20, u.own>>20,
				u.peak>>20)
		}
	}
	line("\nphase\tcalls\toperation")
	for _, p := range b.phases {
		for _, o := range p.calls.operations() {
			line("%s\t%d\t%s", p.name, o.calls, o.name)
		}
	}
	_ = w.Flush() // a failed write of the report has no reader
	for _, p := range b.phases {
		for n, why := range p.lost {
			if n < 5 {
				b.say("%s: lost Ready: %s", p.name, why)
			}
		}
	}
}

// operation counts the calls of an operation.
type operation struct {
	name  string
	calls int
}

// operations returns all operations, the most frequent first.
func (c counts) operations() (all []operation) {
	for cloud, services := range c {
		for service, operations := range services {
			for name, calls := range operations {
				all = append(all, operation{cloud + " " + service + " " + name, calls})
			}
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return cmp.Or(b.calls-a.calls, cmp.Compare(a.name, b.name)) })
	return all
}

// share100 returns a percentile in seconds.
func share100(took []time.Duration, hundredths int) string {
	if len(took) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", took[max(0, (len(took)*hundredths+99)/100-1)].Seconds())
}
