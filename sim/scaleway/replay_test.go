package scaleway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/scaleway"
)

// recorded is one request of the real service with its answer.
type recorded struct {
	Method, URL string
	Request     any
	Status      int
	Response    doc
}

// differs are the differences between recorded answers and the simulator's that stay, with the reason: a member that the recording alone
// has ("-"), that the simulator alone has ("+"), or whose value is another one ("~").
var differs = map[string]string{
	"-cluster.new_images_enabled": gone, "-pool.new_images_enabled": gone, "+pool.labels": added, "+pool.taints": added,
	"+pool.startup_taints": added, "+pool.error_message": added, "+list.pools.error_message": added,
	"+cluster.autoscaler_config.skip_nodes_with_local_storage": added, "+cluster.autoscaler_config.log_level": added,
	"-list.nodes.conditions.NetworkUnavailable": "the network plugin adds the condition some time after the node is Ready",
}

const (
	gone  = "the service showed the member until the end of 2025"
	added = "the service shows the member in the newest recordings, not in older ones"
)

// own are members whose values each service chooses: only their types are compared.
var own = map[string]bool{
	"id": true, "cluster_id": true, "pool_id": true, "created_at": true, "updated_at": true, "commitment_ends_at": true,
	"iam_nodes_group_id": true, "security_group_id": true, "provider_id": true, "public_ip_v4": true, "cluster_url": true,
	"dns_wildcard": true,
	"resource_id":  true, "available_cnis": true, "available_feature_gates": true, "deprecated_at": true, "end_of_life_at": true,
	"released_at": true,
}

// uuid matches IDs.
var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// TestRecordings sends every recorded request to the simulator, waits as the recorded client did, and compares the answers: status codes,
// states, members, types and values.
func TestRecordings(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "recordings", "kapsule", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("no recordings: %v", err)
	}
	stale := maps.Clone(differs)
	requests := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all []recorded
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		all = slices.DeleteFunc(all, func(r recorded) bool { return !strings.Contains(r.URL, "/k8s/v1/") })
		requests += len(all)
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { replay(t, all, stale) }) })
	}
	for row := range stale {
		t.Errorf("no answer has the difference %s: take it off the list", row)
	}
	t.Logf("%d requests of %d recordings, %d differences left", requests, len(files), len(differs))
}

// replay sends the requests of one recording.
func replay(t *testing.T, all []recorded, stale map[string]string) {
	var offered []string
	for _, v := range document.Objects(all[0].Response, "versions") {
		offered = append(offered, document.Text(v, "name"))
	}
	made, err := scaleway.New(scaleway.Options{Speed: 1, Versions: offered})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = made.Close() }()
	p := &player{client: &client{T: t, Cloud: made}, ids: map[string]string{}}
	for _, r := range all {
		status, is := p.answer(r)
		where := fmt.Sprintf("%s %s", r.Method, r.URL)
		if status != r.Status {
			t.Errorf("%s: want %d, got %d %v", where, r.Status, status, is)
			return
		}
		for _, difference := range p.compare(r.Response, is, kindOf(r)) {
			if _, listed := differs[difference]; !listed {
				t.Errorf("%s: %s", where, difference)
			}
			delete(stale, difference)
		}
	}
}

// kindOf returns what an answer is about.
func kindOf(r recorded) string {
	path, _, _ := strings.Cut(r.URL, "?")
	switch parts := strings.Split(path, "/"); {
	case r.Status >= 400:
		return "error"
	case strings.HasSuffix(path, "/nodes"), strings.HasSuffix(path, "/versions"), r.Method == "GET" && strings.HasSuffix(path, "/pools"):
		return "list"
	case slices.Contains(parts, "pools"):
		return "pool"
	}
	return "cluster"
}

// player replays requests with the simulator's IDs in the place of the recorded ones.
type player struct {
	*client
	ids map[string]string
}

// patience is the time within which an answer has to become the recorded one.
const patience = 20 * time.Minute

// answer sends a request, a read as often as it takes until the status of what is read is the recorded one.
func (p *player) answer(r recorded) (int, doc) {
	_, path, _ := strings.Cut(r.URL, "api.scaleway.com")
	path = uuid.ReplaceAllStringFunc(path, p.mapped)
	if r.Method != "GET" {
		return p.send(r, path)
	}
	for began := time.Now(); ; pass(time.Second) {
		status, is := p.ask(r.Method, path, nil)
		if status == r.Status && states(is) == states(r.Response) || time.Since(began) > patience {
			return status, is
		}
	}
}

// send sends a write and notes the ID of what it creates.
func (p *player) send(r recorded, path string) (int, doc) {
	var body any
	if r.Request != nil {
		text := uuid.ReplaceAllStringFunc(document.Written(r.Request), p.mapped)
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			p.Fatal(err)
		}
	}
	status, is := p.ask(r.Method, path, body)
	if id := document.Text(r.Response, "id"); id != "" {
		p.ids[id] = document.Text(is, "id")
	}
	return status, is
}

func (p *player) mapped(id string) string {
	if own := p.ids[id]; own != "" {
		return own
	}
	return id
}

// states are the statuses that an answer shows.
func states(d doc) string {
	out := document.Text(d, "status")
	for _, list := range []string{"nodes", "pools"} {
		for _, one := range document.Objects(d, list) {
			out += " " + document.Text(one, "status")
		}
	}
	return out
}

// compare returns how an answer differs from the recorded one.
func (p *player) compare(want, is any, path string) []string {
	switch w := want.(type) {
	case doc:
		i, same := is.(doc)
		if !same {
			return []string{"~" + path}
		}
		return p.compareMembers(w, i, path)
	case []any:
		i, same := is.([]any)
		if own[path[strings.LastIndex(path, ".")+1:]] {
			i = i[:min(len(i), len(w))]
			w = w[:len(i)]
		}
		if !same || len(i) != len(w) {
			return []string{"~" + path}
		}
		if strings.HasSuffix(path, "taints") {
			w, i = sorted(w), sorted(i)
		}
		var out []string
		for n := range w {
			out = append(out, p.compare(w[n], i[n], path)...)
		}
		return out
	}
	member := path[strings.LastIndex(path, ".")+1:]
	if reflect.TypeOf(want) != reflect.TypeOf(is) || !own[member] && !reflect.DeepEqual(want, is) {
		return []string{"~" + path}
	}
	return nil
}

func (p *player) compareMembers(want, is doc, path string) []string {
	var out []string
	if want["pool_id"] != nil { // the name of a node ends with as much of its ID as fits
		want["name"], is["name"] = withoutID(want), withoutID(is)
	}
	for name := range want {
		if _, has := is[name]; !has {
			out = append(out, "-"+path+"."+name)
		}
	}
	for name := range is {
		if _, has := want[name]; !has {
			out = append(out, "+"+path+"."+name)
			continue
		}
		out = append(out, p.compare(want[name], is[name], path+"."+name)...)
	}
	return out
}

// sorted returns a list in the order of what its elements are written as.
func sorted(list []any) []any {
	return slices.SortedFunc(slices.Values(list), func(a, b any) int { return strings.Compare(document.Written(a), document.Written(b)) })
}

// withoutID returns the name of a node without the digits of its ID.
func withoutID(node doc) string {
	name, digits := document.Text(node, "name"), strings.ReplaceAll(document.Text(node, "id"), "-", "")
	for n := len(digits); n > 0; n-- {
		if rest, ends := strings.CutSuffix(name, digits[:n]); ends {
			return fmt.Sprint(rest, n)
		}
	}
	return name
}
