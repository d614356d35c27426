package docs

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
	simgcp "github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/container"
	simoci "github.com/muster-project/muster/sim/oci"
	simscaleway "github.com/muster-project/muster/sim/scaleway"
)

const simulators = "docs/simulators.md"

// simulated are all clouds, with a machine in each that the page's examples name.
type simulated struct {
	aws      *simaws.Server
	azure    *simazure.Cloud
	gcp      *simgcp.Cloud
	scaleway *simscaleway.Cloud
	oci      *simoci.Cloud
	// env are the variables of the examples.
	env map[string]string
}

func simulate(t *testing.T) simulated {
	t.Helper()
	aws, err := simaws.New(simaws.Options{Speed: 1000})
	if err != nil {
		t.Fatal(err)
	}
	azure, err := simazure.New(simazure.Options{Speed: 1000, Limits: simazure.Limits{}})
	if err != nil {
		t.Fatal(err)
	}
	gcp, err := simgcp.New(simgcp.Options{Speed: 1000, Limits: simgcp.Limits{}})
	if err != nil {
		t.Fatal(err)
	}
	scaleway, err := simscaleway.New(simscaleway.Options{Speed: 1000})
	if err != nil {
		t.Fatal(err)
	}
	oci, err := simoci.New(simoci.Options{Speed: 1000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _, _, _, _ = aws.Close(), azure.Close(), gcp.Close(), scaleway.Close(), oci.Close() })
	s := simulated{aws, azure, gcp, scaleway, oci, map[string]string{"AWS_SIM": "http://aws", "AZURE_SIM": "http://azure",
		"GCP_SIM": "http://gcp", "SCALEWAY_SIM": "http://scaleway", "OCI_SIM": "http://oci", "GROUP": "byhand", "SCALESET": "byhand"}}
	for _, account := range []sim.OutOfBandActions{aws.Capabilities().OutOfBand, azure.Capabilities().OutOfBand,
		gcp.Capabilities().OutOfBand} {
		for _, action := range []sim.Action{sim.CreateTemplate, sim.CreateGroup} {
			if _, err := account.Do(action, sim.Resource{Name: "byhand"}); err != nil {
				t.Fatal(err)
			}
		}
		for _, change := range []struct {
			action sim.Action
			on     sim.Resource
		}{{sim.SetBounds, sim.Resource{Name: "byhand", Size: 5}}, {sim.SetSize, sim.Resource{Name: "byhand", Size: 1}},
			{sim.ChangeTag, sim.Resource{Name: "byhand", Key: "Name", Value: "x"}}} {
			if _, err := account.Do(change.action, change.on); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.makePools(t)
	s.makeNodePool(t)
	s.makeKapsulePool(t)
	s.makePoolsOfOCI(t)
	for end := time.Now().Add(30 * time.Second); s.env["INSTANCE"] == "" || s.env["MACHINE"] == "" ||
		s.env["VM"] == ""; <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("want a machine in each cloud within half a minute")
		}
		for _, i := range aws.State(simaws.AccountID, simaws.Region).Living() {
			s.env["INSTANCE"] = i.ID
		}
		for _, m := range azure.State().Sets[0].Machines {
			s.env["MACHINE"] = m.Name
		}
		for _, m := range gcp.State().Groups[0].Instances {
			if m.State == "RUNNING" {
				s.env["VM"] = m.Name
			}
		}
	}
	return s
}

// makePools makes the managed cluster of the examples with its pools, and waits until it rests.
func (s simulated) makePools(t *testing.T) {
	t.Helper()
	pool := func(name, mode string) any {
		return map[string]any{"name": name, "mode": mode, "count": 1.0, "vmSize": simazure.VMSize}
	}
	want := containerservice.DesiredCluster{SubscriptionID: simazure.SubscriptionID, Group: "aks", Name: "aks",
		Body: map[string]any{"location": simazure.Location,
			"properties": map[string]any{"agentPoolProfiles": []any{pool("system", "System"), pool("user", "User")}}}}
	for end := time.Now().Add(30 * time.Second); ; <-time.After(20 * time.Millisecond) {
		is, err := s.azure.AKS.PutCluster(want)
		if err != nil {
			t.Fatal(err)
		}
		if is.State == "Succeeded" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("want the managed cluster within half a minute, got %+v", is)
		}
	}
}

// makeNodePool makes the cluster of GKE of the examples with its node pool, and waits until it rests.
func (s simulated) makeNodePool(t *testing.T) {
	t.Helper()
	want := container.DesiredCluster{Project: "simulated-project", Location: "us-central1-b", Name: "gke",
		Body: map[string]any{"nodePools": []any{map[string]any{"name": "workers", "initialNodeCount": 1.0}}}}
	for end := time.Now().Add(30 * time.Second); ; <-time.After(20 * time.Millisecond) {
		is, err := s.gcp.GKE.PutCluster(want)
		if err != nil {
			t.Fatal(err)
		}
		if is.Status == "RUNNING" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("want the cluster within half a minute, got %+v", is)
		}
	}
}

// makeKapsulePool makes the cluster of Kapsule of the examples with its pool.
func (s simulated) makeKapsulePool(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; <-time.After(20 * time.Millisecond) {
		is, err := s.scaleway.PutCluster(simscaleway.Access{Name: "kapsule", Version: "1.34.2"})
		if err != nil {
			t.Fatal(err)
		}
		if is["status"] == "pool_required" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("want the cluster within half a minute, got %+v", is)
		}
	}
	if err := s.scaleway.CreatePool("kapsule", "workers", simscaleway.Theirs{Size: 1}); err != nil {
		t.Fatal(err)
	}
}

// makePoolsOfOCI makes the cluster of OKE of the examples with its node pool, and an instance pool with one instance.
func (s simulated) makePoolsOfOCI(t *testing.T) {
	t.Helper()
	if _, err := s.oci.PutCluster(simoci.Access{Name: "oke", Version: "1.34.2"}); err != nil {
		t.Fatal(err)
	}
	groups := s.oci.GroupCapabilities().OutOfBand
	if _, err := groups.Do(sim.CreateGroup, sim.Resource{Name: "byhand"}); err != nil {
		t.Fatal(err)
	}
	resting := func(name string, size int) *sim.Group {
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
			if g := s.oci.Snapshot().Group(name); g != nil && !g.Busy && len(g.Members) == size {
				return g
			}
		}
		t.Fatalf("want the pool %s at rest within half a minute, got %+v", name, s.oci.Snapshot())
		return nil
	}
	resting("byhand", 0)
	if _, err := groups.Do(sim.SetSize, sim.Resource{Name: "byhand", Size: 1}); err != nil {
		t.Fatal(err)
	}
	s.env["OCID"] = resting("byhand", 1).Members[0].ID
	for end := time.Now().Add(30 * time.Second); s.oci.CreatePool("oke", "workers", 1, nil) != nil; <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("want the node pool created within half a minute")
		}
	}
	resting("workers", 1)
}

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	curlLine   = regexp.MustCompile(`^curl --fail-with-body (?:-X (\w+) )?("?\$(?:AWS|AZURE|GCP|SCALEWAY|OCI)_SIM\S+)(?: -d (.+))?$`)
)

// run sends what an example of the page sends.
func (s simulated) run(t *testing.T, line string) string {
	t.Helper()
	parts := curlLine.FindStringSubmatch(line)
	if parts == nil {
		t.Fatalf("want an example in the form of the others, got %s", line)
	}
	expand := func(text string) string { return os.Expand(text, func(name string) string { return s.env[name] }) }
	method, target, body := parts[1], expand(strings.Trim(parts[2], `"`)), strings.ReplaceAll(expand(parts[3]), "'", "")
	if method == "" {
		method = http.MethodGet
	}
	status, response := s.send(t, method, target, body)
	if status != http.StatusOK && status != http.StatusNoContent {
		t.Errorf("%s: want it to work, got %d: %s", line, status, response)
	}
	return response
}

// send sends a request to the simulator that its target names.
func (s simulated) send(t *testing.T, method, target, body string) (status int, response string) {
	t.Helper()
	target = os.Expand(target, func(name string) string { return s.env[name] })
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	handler := http.Handler(s.aws)
	if strings.HasPrefix(target, s.env["AZURE_SIM"]) {
		handler = s.azure
	}
	if strings.HasPrefix(target, s.env["GCP_SIM"]) {
		handler = s.gcp
	}
	if strings.HasPrefix(target, s.env["SCALEWAY_SIM"]) {
		handler = s.scaleway
	}
	if strings.HasPrefix(target, s.env["OCI_SIM"]) {
		handler = s.oci
	}
	resp, err := sim.Transport{Handler: handler}.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(content)
}

// TestAdminTellsWhatIsServed: who mistypes a path or an action below /_sim/ is shown those that there are.
func TestAdminTellsWhatIsServed(t *testing.T) {
	t.Parallel()
	s := simulate(t)
	for _, c := range []struct {
		method, path, want string
		status             int
	}{
		{http.MethodGet, "$AWS_SIM/_sim/", "POST /_sim/instances/{id}/fail|impair|interrupt|recommend|terminate", http.StatusOK},
		{http.MethodGet, "$AZURE_SIM/_sim/", "PUT /_sim/quotas", http.StatusOK},
		{http.MethodGet, "$GCP_SIM/_sim/", "GET /_sim/calls", http.StatusOK},
		{http.MethodGet, "$OCI_SIM/_sim/", "POST /_sim/machines/{id}/detach|interrupt|start|stop|terminate", http.StatusOK},
		{http.MethodGet, "$SCALEWAY_SIM/_sim/", "POST /_sim/pools/{cluster}/{pool}/{action}", http.StatusOK},
		{http.MethodGet, "$AWS_SIM/_sim/falts", "GET /_sim/ lists what is", http.StatusNotFound},
		{http.MethodPost, "$AWS_SIM/_sim/instances/i-1/terminat", `action \"terminat\" is none of`, http.StatusNotFound},
		{http.MethodPost, "$AWS_SIM/_sim/eks/clusters/c/nodegroups/n/issu", `none of`, http.StatusNotFound},
		{http.MethodPost, "$AZURE_SIM/_sim/aks/pools/c/p/stopp", `none of`, http.StatusNotFound},
		{http.MethodPost, "$GCP_SIM/_sim/gke/pools/c/p/resiz", `none of`, http.StatusNotFound},
	} {
		status, response := s.send(t, c.method, c.path, "")
		if status != c.status || !strings.Contains(response, strings.ReplaceAll(c.want, `\"`, `"`)) {
			t.Errorf("%s %s: want %d with %q, got %d: %s", c.method, c.path, c.status, c.want, status, response)
		}
	}
}

// Every example of the page works, and has the effect that the page promises.
func TestSimulatorExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("every example, with all simulators")
	}
	t.Parallel()
	text := read(t, simulators)
	faults := func(f *sim.Faults) string {
		var kinds []string
		for _, p := range f.List() {
			kinds = append(kinds, string(p.Kind))
		}
		return strings.Join(kinds, " ")
	}
	effects := map[string]func(s simulated) (want, got string){
		"Throttle requests": func(s simulated) (string, string) {
			return "throttle, throttle, throttle", faults(s.aws.Faults()) + ", " + faults(s.azure.Faults()) + ", " + faults(s.gcp.Faults())
		},
		"Refuse an operation": func(s simulated) (string, string) { return "error-before drop-after", faults(s.aws.Faults()) },
		"Ignore a field": func(s simulated) (string, string) {
			return "ignore, ignore, ignore", faults(s.aws.Faults()) + ", " + faults(s.azure.Faults()) + ", " + faults(s.gcp.Faults())
		},
		"Let machines fail": func(s simulated) (string, string) { return "never-boots dies", faults(s.aws.Faults()) },
		"Use Kapsule": func(s simulated) (string, string) {
			return "2 error-before", fmt.Sprint(s.scaleway.Snapshot().Groups[0].Size) + " " + faults(s.scaleway.Faults())
		},
		"Use Oracle Cloud": func(s simulated) (string, string) {
			all := s.oci.Snapshot()
			return "2 other true", fmt.Sprint(all.Group("workers").Size, " ", all.Templates[slices.IndexFunc(all.Templates,
				func(t sim.Template) bool { return t.ID == all.Group("byhand").Template })].Name, " ", all.Group("byhand").Members[0].Failed)
		},
		"Remove faults": func(s simulated) (string, string) { return "", faults(s.aws.Faults()) },
		"Start over":    func(s simulated) (string, string) { return "", faults(s.aws.Faults()) },
		"See what a cloud was asked for": func(s simulated) (string, string) {
			return "0", fmt.Sprint(s.aws.Calls().Summary(0).Total)
		},
		"Take the capacity of a zone away": func(s simulated) (string, string) {
			return "no-capacity, no-capacity no-capacity, no-capacity",
				faults(s.aws.Faults()) + ", " + faults(s.azure.Faults()) + ", " + faults(s.gcp.Faults())
		},
		"Kill a machine": func(s simulated) (string, string) {
			runs := slices.ContainsFunc(s.aws.State(simaws.AccountID, simaws.Region).Living(),
				func(i simaws.Instance) bool { return i.ID == s.env["INSTANCE"] })
			again := len(s.gcp.State().Groups[0].Instances)
			return "false stopped 1", fmt.Sprint(runs, " ", s.azure.State().Sets[0].Machines[0].Power, " ", again)
		},
		"Change something out of band": func(s simulated) (string, string) {
			_, tagged := s.azure.State().Sets[0].Tags["Name"]
			return "3 false", fmt.Sprint(s.aws.State(simaws.AccountID, simaws.Region).Groups[0].Desired, " ", tagged)
		},
		"Change how fast time passes": func(s simulated) (string, string) {
			return `{"speed":60}`, strings.Join(strings.Fields(s.run(t, "curl --fail-with-body $AWS_SIM/_sim/speed")), "")
		},
		"Use Google Cloud": func(s simulated) (string, string) {
			policy, _ := s.gcp.State().Groups[0].Doc["updatePolicy"].(map[string]any)
			return "PROACTIVE", fmt.Sprint(policy["type"])
		},
		"Use GKE": func(s simulated) (string, string) {
			return "drop-after 2", faults(s.gcp.Faults()) + " " + fmt.Sprint(s.gcp.State().Clusters[0].Pools[0].Size)
		},
		"Use AKS": func(s simulated) (string, string) {
			p := s.azure.State().Clusters[0].Pools[1]
			return "ignore user AKSUbuntu-2204gen2containerd-202610.01.0", faults(s.azure.Faults()) + " " + p.Name + " " + p.Image
		},
		"See what a cloud holds": nil,
	}
	for _, part := range strings.Split(text, "\n## ")[1:] {
		heading, _, _ := strings.Cut(part, "\n")
		var lines []string
		for _, block := range shellBlock.FindAllStringSubmatch(part, -1) {
			lines = append(lines, strings.Split(strings.TrimSpace(block[1]), "\n")...)
		}
		if len(lines) == 0 {
			continue
		}
		t.Run(heading, func(t *testing.T) {
			s := simulate(t)
			for _, line := range lines {
				s.run(t, line)
			}
			effect, known := effects[heading]
			if !known {
				t.Errorf("want the effect of the examples below %q looked at: add it to this test", heading)
			}
			if effect == nil {
				return
			}
			if want, got := effect(s); want != got {
				t.Errorf("want %q, got %q", want, got)
			}
		})
	}
	for heading := range effects {
		if !strings.Contains(text, "\n## "+heading+"\n") {
			t.Errorf("want a heading %q in the page", heading)
		}
	}
}

// The page lists all kinds of faults and all fields of one, and no others.
func TestSimulatorFaults(t *testing.T) {
	t.Parallel()
	fields, kinds, _ := strings.Cut(section(t, read(t, simulators), "Fields of a fault"), "Faults of requests:")
	first := func(table string) []string {
		var out []string
		for line := range strings.Lines(table) {
			if cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |"); strings.HasPrefix(line, "| `") {
				out = append(out, words(cell)...)
			}
		}
		slices.Sort(out)
		return out
	}
	var wantKinds, wantFields []string
	for _, kind := range sim.FaultKinds() {
		wantKinds = append(wantKinds, string(kind))
	}
	for f := range reflect.TypeFor[sim.Fault]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		wantFields = append(wantFields, name)
	}
	slices.Sort(wantKinds)
	slices.Sort(wantFields)
	if got := first(kinds); !slices.Equal(got, wantKinds) {
		t.Errorf("want the kinds %v, got %v", wantKinds, got)
	}
	if got := first(fields); !slices.Equal(got, wantFields) {
		t.Errorf("want the fields %v, got %v", wantFields, got)
	}
}
