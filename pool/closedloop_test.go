package pool

import (
	"fmt"
	"testing"
	"time"
)

// The closed loops that are known of other providers, each with what becomes of it here: how many machines are made and
// gone, the least that serve and the most that exist, and the state in which it ends.
func TestClosedLoops(t *testing.T) {
	lowest := func(d *Desired) { d.DeletePolicy = Newest }
	skip := func(d *Desired) { d.SkipModel = true }
	for _, c := range []struct {
		name, why string
		n         int
		d         Desired
		content   string
		want      string
	}{
		{"surge 1", "one after the other, nobody is missed", 3, wants(3, rolls(1, 0)), "b", "3 made, 3 gone, 3 to 4, Done"},
		{"surge 1, newest", "in whatever order", 3, wants(3, rolls(1, 0), lowest), "b", "3 made, 3 gone, 3 to 4, Done"},
		{"unavailable 1", "without a machine too many", 3, wants(3, rolls(0, 1)), "b", "3 made, 3 gone, 2 to 3, Done"},
		{"a quarter and one", "ten are replaced by ten: none is made to be thrown away", 10, wants(10, rolling25), "b", "10 made, 10 gone, 9 to 13, Done"},
		{"surge 100 %", "all at once", 10, wants(10, by(percent(100), percent(0))), "b", "10 made, 10 gone, 10 to 20, Done"},
		{"unavailable more than there are", "is all of them, as asked", 3, wants(3, rolls(0, 5)), "b", "3 made, 3 gone, 0 to 3, Done"},
		{"surge 0 %", "is refused, not silently never done", 3, wants(3, by(percent(0), percent(0))), "b", "0 made, 0 gone, 3 to 3, None"},
		{"bad image, surge 1", "a safe stop that says so", 3, wants(3, rolls(1, 0)), "bad", "1 made, 0 gone, 3 to 4, Halted"},
		{"bad image, surge 1 and unavailable 1", "what may be missing is", 3, wants(3, rolls(1, 1)), "bad", "2 made, 1 gone, 2 to 4, Halted"},
		{"bad image, unavailable 1", "likewise, and the way forward is in the next test", 3, wants(3, rolls(0, 1)), "bad", "1 made, 1 gone, 2 to 3, Halted"},
		{"model skipped, oldest", "nothing is replaced", 3, wants(3, rolls(1, 0), skip), "b", "0 made, 0 gone, 3 to 3, Done"},
		{"model skipped, newest", "and nothing is made for ever", 3, wants(3, rolls(1, 0), skip, lowest), "b", "0 made, 0 gone, 3 to 3, Done"},
		{"image and fewer", "the cloud takes none that it picks", 5, wants(3, rolls(1, 0)), "b", "3 made, 5 gone, 3 to 5, Done"},
		{"image and more", "both in one go", 3, wants(5, rolls(1, 0)), "b", "5 made, 3 gone, 3 to 6, Done"},
	} {
		for _, aside := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, set aside %v", c.name, aside), func(t *testing.T) {
				tr := quick()
				tr.SetsAside = aside
				cl := stocked(c.n, tr)
				cl.bad["v1:bad"] = true
				cl.change(c.content)
				var p Plan
				for range 800 {
					p = cl.pass(t, c.d)
				}
				if got := fmt.Sprintf("%d made, %d gone, %d to %d, %s", cl.made, cl.ended, cl.lowest, cl.highest, p.Rollout.State); got != c.want {
					t.Errorf("%s: want %s, got %s", c.why, c.want, got)
				}
			})
		}
	}
}

// A bad image is rolled forward and back, whatever the strategy: no wedge.
func TestBadImageIsNoWedge(t *testing.T) {
	for name, strategy := range map[string]func(*Desired){"surge": rolls(1, 0), "unavailable": rolls(0, 1), "both": rolls(1, 1), "all": rolls(0, 3)} {
		for content, made := range map[string]string{"c": "forward", "a": "back"} {
			t.Run(name+" "+made, func(t *testing.T) {
				d, c := wants(3, strategy), stocked(3, quick())
				c.bad["v1:bad"] = true
				c.change("bad")
				for range 200 {
					c.pass(t, d)
				}
				c.change(content)
				if took, p := c.run(t, d, 3*time.Hour); p.Rollout.State != RolloutDone || len(c.o.Instances) != 3 {
					t.Fatalf("want the pool well again, got %s after %s", say(p), took)
				}
			})
		}
	}
}
