package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/local/seed"
	"github.com/muster-project/muster/local/world"
	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/view/plan"
)

// movesCode is the exit code of --exit-code when machines would go.
const movesCode exitCode = 2

// planner is one run of "muster plan".
type planner struct {
	management

	files                      []string
	set                        []string
	output                     string
	applyAs, gates, identities string
	endpoints                  []string
	serverSide, exitCode       bool

	// simulated is true if the management cluster is that of a world.
	simulated bool
	// reach words errors of the management cluster.
	reach func(error) error
	in    io.Reader
	out   io.Writer
}

// planCommand forecasts the effects of edits on pools.
func planCommand() *cobra.Command {
	p := &planner{}
	cmd := &cobra.Command{
		Use:   "plan [KIND/NAME] [-f FILE]... [--set PATH=VALUE]...",
		Short: "Preview which machines an edit would replace, in which waves and why",
		Long: `Preview an edit of machine pools: which instances would be replaced, in which waves and why, the lowest number of Ready machines
meanwhile, and which fields of the edit cause it. With -f, the command plans for every pool that the files concern, as if they were
applied with kubectl apply. With --set, it plans as if the fields had other values. With neither, it plans the remaining changes of
a pool as it is.

The API server validates the edit in a dry run, and the cloud is observed. Nothing is written. The command connects to the cloud with
the settings and credentials of this environment, as the manager does; in a local world ("muster up") it finds the simulated clouds
by the kubeconfig. A plan assumes that nothing else changes meanwhile: drains end, and machines join.

A path of --set is a field of the named object. A field that a MachinePool does not have is a field of its infrastructure object.
Values are YAML; null removes a field.

Exit codes: 0 if the plan was made; 1 if it could not be made; with --exit-code, 2 if machines would be replaced or removed.`,
		Example: `  muster plan -f pool.yaml
  muster plan machinepool/workers
  muster plan machinepool/workers -n team-a --set spec.template.spec.version=v1.36.3
` + planExamples() + `  muster plan ` + all.Clouds()[0].Resources[0] +
			`/workers --set 'metadata.annotations[muster.dev/restart-now]=new kernel'`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.in, p.out = cmd.InOrStdin(), cmd.OutOrStdout()
			return p.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&p.files, "file", "f", nil,
		"Manifests to plan as if they were applied: a file, a directory, or - for standard input. The flag may be repeated.")
	f.StringArrayVar(&p.set, "set", nil, "Field to plan with another value, as PATH=VALUE. The flag may be repeated.")
	f.StringVarP(&p.output, "output", "o", "text", "Output format: text or json.")
	p.addNamespace(f, "Namespace of the pool, and of manifests without a namespace.")
	p.addFlags(f)
	f.BoolVar(&p.serverSide, "server-side", false, "Plan the files as if they were applied with kubectl apply --server-side.")
	f.StringVar(&p.applyAs, "field-manager", "kubectl", "Name of the field manager for --server-side.")
	f.StringVar(&p.gates, gatesFlag, "", "Feature gates of the controllers, for example SkipMachinePoolModelReconciliation=true. If "+
		"unspecified, they are read from the environment variables of clusterctl.")
	f.StringVar(&p.identities, "identity-namespace", "",
		"Namespace of the Secrets that "+examples(func(h clouds.Help) string { return h.Identities })+" reference. If unspecified, "+
			identity.DefaultNamespace+", the namespace of the manager.")
	p.addEndpoints(f)
	f.BoolVar(&p.exitCode, "exit-code", false, "Exit with code 2 if machines would be replaced or removed.")
	return cmd
}

// run builds the plans and prints them.
func (p *planner) run(ctx context.Context, args []string) error {
	ctrl.SetLogger(klog.Background())
	request, err := p.request(args)
	if err != nil {
		return err
	}
	if err := p.connect(&request); err != nil {
		return err
	}
	if request.Manifests, err = p.manifests(); err != nil {
		return err
	}
	plans, err := plan.Build(ctx, request)
	if err != nil {
		return fmt.Errorf("plan: %w", p.reach(err))
	}
	write := plan.Text
	if p.output == "json" {
		write = plan.JSON
	}
	if err := write(p.out, plans); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	for _, one := range plans {
		if p.exitCode && one.Moves() {
			return movesCode
		}
	}
	return nil
}

// request returns the request that the command line describes.
func (p *planner) request(args []string) (plan.Request, error) {
	r := plan.Request{Set: p.set}
	if err := textOrJSON(p.output); err != nil {
		return r, err
	}
	if p.serverSide {
		r.ApplyAs = p.applyAs
	}
	var err error
	if r.Kind, r.Name, err = named(args); err != nil {
		return r, err
	}
	switch {
	case r.Name == "" && len(p.files) == 0:
		return r, errors.New("want a pool (machinepool/NAME), or manifests (-f FILE), found neither")
	case r.Name == "" && len(p.set) > 0:
		return r, errors.New("--set: want the pool whose field it is (machinepool/NAME), found none")
	}
	return r, nil
}

// addEndpoints adds the flag that the manager has by the same name.
func (p *planner) addEndpoints(f *pflag.FlagSet) {
	f.StringSliceVar(&p.endpoints, identity.EndpointsFlag, nil,
		"API endpoints that Secrets of identities may specify, in addition to the public endpoints of the clouds, as for the manager.")
}

// named takes KIND/NAME or KIND NAME apart.
func named(args []string) (kind, name string, err error) {
	if len(args) == 0 {
		return "", "", nil
	}
	kind, name, one := strings.Cut(args[0], "/")
	if len(args) == 2 && !one {
		name = args[1]
	}
	if kind == "" || name == "" || len(args) == 2 && one {
		return "", "", fmt.Errorf("want KIND/NAME, as in machinepool/workers, found %q", strings.Join(args, " "))
	}
	return kind, name, nil
}

// manifests reads the files: for a world as "muster up" reads them, with variables replaced, otherwise unchanged, like kubectl.
func (p *planner) manifests() ([]*unstructured.Unstructured, error) {
	var objects []seed.Object
	sources, err := seed.Read(p.files, p.in)
	if err != nil {
		return nil, err
	}
	if p.simulated {
		objects, err = parse(simulatedClouds, sources)
	} else {
		objects, err = seed.Plain(sources)
	}
	if err != nil {
		return nil, err
	}
	var list []*unstructured.Unstructured
	for _, o := range objects {
		list = append(list, o.Unstructured)
	}
	return list, nil
}

// connect finds the management cluster, and makes what looks at pools.
func (p *planner) connect(r *plan.Request) error {
	at, err := p.find()
	if err != nil {
		return err
	}
	r.Namespace, p.simulated, p.reach = at.namespace, at.simulated, at.reach
	if r.Client, err = at.client(); err != nil {
		return err
	}
	if err := checkGates(p.gates); err != nil {
		return err
	}
	o := manager.Options{IdentityNamespace: p.identities}
	if o.IdentityEndpoints, err = identity.ParseEndpoints(p.endpoints); err != nil {
		return err
	}
	if o.Gates, err = manager.EnabledGates(); err != nil {
		return err
	}
	once := preview.ReadOnce(r.Client)
	r.Hub = manager.Hub(once)
	r.Planners, err = manager.Planners(once, preview.NewClusters(preview.ConnectBySecret(once)), o)
	return err
}

// reachSimulated points the clouds' SDKs at the simulated ones, and at nothing else, when the kubeconfig is a world's. It returns the
// folder of that world.
func reachSimulated(rules *clientcmd.ClientConfigLoadingRules) (string, error) {
	for _, file := range rules.GetLoadingPrecedence() {
		settings, ok, err := world.CloudsOf(file)
		if err != nil {
			return "", err
		}
		if ok {
			return filepath.Dir(file), only(settings)
		}
	}
	return "", nil
}

// only makes these settings of the clouds' SDKs the only ones of this process.
func only(settings []string) error {
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if !world.OfCloud(name) {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("leave out %s: %w", name, err)
		}
	}
	for _, e := range settings {
		name, value, _ := strings.Cut(e, "=")
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}
