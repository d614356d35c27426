package core_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim/core"
)

func open(t *testing.T, dir string) *core.Store {
	t.Helper()
	s, err := core.OpenStore(dir)
	if err != nil {
		t.Fatalf("OpenStore: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t *testing.T, s *core.Store, at time.Time, call bool, pairs ...string) {
	t.Helper()
	changes := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		changes[pairs[i]] = nil
		if pairs[i+1] != "" {
			changes[pairs[i]] = json.RawMessage(pairs[i+1])
		}
	}
	if err := s.Commit(at, call, changes); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

func show(docs map[string]json.RawMessage) string {
	b, err := json.Marshal(docs)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Whatever a killed process has left of its last line, all commits before it are there and none is there in part.
func TestStoreSurvivesTornWrites(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	put(t, s, time.Now(), true, "a", "1", "b", "2")
	put(t, s, time.Now(), true, "a", "3", "b", "")
	whole, err := os.ReadFile(filepath.Join(dir, "state.log"))
	if err != nil {
		t.Fatal(err)
	}
	first := strings.IndexByte(string(whole), '\n') + 1
	for cut := 0; cut <= len(whole); cut++ {
		left := t.TempDir()
		if err := os.WriteFile(filepath.Join(left, "state.log"), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		want := `{}`
		switch {
		case cut == len(whole):
			want = `{"a":3}`
		case cut >= first:
			want = `{"a":1,"b":2}`
		}
		again := open(t, left)
		if got := show(again.Docs()); got != want {
			t.Errorf("cut after %d bytes: want %s, got %s", cut, want, got)
		}
		// What is written next must not end up behind half a line.
		put(t, again, time.Now(), true, "c", "4")
		if got := show(open(t, left).Docs()); !strings.Contains(got, `"c":4`) {
			t.Errorf("cut after %d bytes: want the next commit kept, got %s", cut, got)
		}
	}
}

// A line that was damaged in the middle is an error that says where, never silently passed over.
func TestStoreRefusesDamage(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "state.log"), []byte("{\"a\":1}\n{\"b\":\n{\"c\":3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := core.OpenStore(dir); err == nil || !strings.Contains(err.Error(), "line 2 is damaged") {
		t.Errorf("want an error that names line 2, got %v", err)
	}
}

// A log that has grown far beyond what it holds is rewritten without losing anything.
func TestStoreCompacts(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	large := `"` + strings.Repeat("x", 100_000) + `"`
	for n := range 200 {
		put(t, s, time.Now(), true, "large", large, fmt.Sprintf("n%d", n), "1")
	}
	info, err := os.Stat(filepath.Join(dir, "state.log"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 12<<20 {
		t.Errorf("after 20 MB of commits: want the log below 12 MB, got %d bytes", info.Size())
	}
	if got, want := show(open(t, dir).Docs()), show(s.Docs()); got != want {
		t.Errorf("want the same documents after loading: %d bytes, got %d", len(want), len(got))
	}
}

func TestDocsBefore(t *testing.T) {
	s := open(t, "")
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }
	put(t, s, at(1), true, "a", "1")
	put(t, s, at(2), false, "a", "2", "b", "1")
	put(t, s, at(3), true, "a", "", "c", "1")
	for _, c := range []struct {
		why   string
		time  time.Time
		calls int
		want  string
	}{
		{"now", at(3), 0, `{"b":1,"c":1}`},
		{"before the last", at(2), 0, `{"a":2,"b":1}`},
		{"between", at(1).Add(time.Millisecond), 0, `{"a":1}`},
		{"before all", at(0), 0, `{}`},
		{"one call not seen", at(9), 1, `{"a":2,"b":1}`},
		{"two calls not seen, and what time did between them", at(9), 2, `{}`},
		{"more calls than there were", at(9), 9, `{}`},
	} {
		if got := show(s.DocsBefore(c.time, c.calls)); got != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
	}
}

type row struct{ N int }

func TestTable(t *testing.T) {
	s, table := open(t, ""), core.NewTable[row]("t/")
	for _, k := range []string{"b", "a/2", "a/1", "c"} {
		table.Put(k, &row{len(k)})
	}
	table.Delete("c")
	table.Delete("never there")
	changes := map[string]json.RawMessage{}
	if err := table.Flush(changes); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(time.Now(), true, changes); err != nil {
		t.Fatal(err)
	}
	loaded := core.NewTable[row]("t/")
	if err := loaded.Load(s.Docs()); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for k, r := range loaded.All() {
		keys = append(keys, fmt.Sprintf("%s=%d", k, r.N))
	}
	if got, want := strings.Join(keys, " "), "a/1=3 a/2=3 b=1"; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	n := 0
	for k := range loaded.Under("a/") {
		loaded.Delete(k) // taking away what one looks at is allowed
		n++
	}
	if n != 2 || loaded.Len() != 1 {
		t.Errorf("want two below a/ and one left, got %d and %d", n, loaded.Len())
	}
	clear(changes)
	if err := loaded.Flush(changes); err != nil || len(changes) != 2 {
		t.Errorf("want the two deletions flushed, got %v, %v", changes, err)
	}
}
