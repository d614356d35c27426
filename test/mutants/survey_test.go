package mutants

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"slices"
	"sync"
	"testing"
)

var survey = flag.Int("survey", 0, "")

func TestSurvey(t *testing.T) {
	if *survey == 0 {
		t.Skip()
	}
	dir := "/tmp/e2/build"
	os.RemoveAll(dir)
	os.MkdirAll(dir, 0o755)
	built, err := Build(t.Context(), root, dir, Table(), []Binary{Explore})
	if err != nil {
		t.Fatal(err)
	}
	f, _ := os.OpenFile("/tmp/e2/survey.txt", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	fmt.Fprintln(f, "=====", *survey)
	var mu sync.Mutex
	workers := make(chan struct{}, 4)
	var all sync.WaitGroup
	for _, m := range Table() {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), m.Name) {
			continue
		}
		all.Go(func() {
			workers <- struct{}{}
			defer func() { <-workers }()
			v, err := built.play(t.Context(), root, Explore, m.Name, *survey, nil)
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(f, "%-42s %-10s %-18s %4d %.160s %v\n", m.Name, m.In, v.By, v.Scenarios, v.Text, err)
		})
	}
	all.Wait()
}
