package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/world"
	"github.com/muster-project/muster/manager"
)

// commandQPS and commandBurst bound the requests of one command.
const commandQPS, commandBurst = 50, 100

// management names a management cluster as kubectl does, or by the folder of a world.
type management struct {
	kubeconfig, kubeContext, world, namespace string
}

// addNamespace adds the flag --namespace with a description of its use.
func (m *management) addNamespace(f *pflag.FlagSet, about string) {
	f.StringVarP(&m.namespace, "namespace", "n", "", about+" If unspecified, the namespace of the kubeconfig's context.")
}

// addFlags adds the flags that name the cluster.
func (m *management) addFlags(f *pflag.FlagSet) {
	f.StringVar(&m.kubeconfig, "kubeconfig", "",
		"Path to the kubeconfig of the management cluster. If unspecified, the environment variable KUBECONFIG or the file in the home "+
			"directory is used.")
	f.StringVar(&m.kubeContext, "context", "", "Context to use from the kubeconfig. If unspecified, the current context.")
	f.StringVar(&m.world, "dir", "", `Directory of a local world ("muster up --dir"), used instead of a kubeconfig.`)
}

// found is a management cluster.
type found struct {
	config    *rest.Config
	namespace string
	// simulated is true if the cluster is that of a world.
	simulated bool
	// world is the folder of that world.
	world string
}

// find reads the kubeconfig. In a world, the clouds' SDKs of this process are pointed at the simulated clouds.
func (m *management) find() (found, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = m.file()
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: m.kubeContext})
	config, err := loader.ClientConfig()
	if err != nil {
		return found{}, m.notFound(rules, err)
	}
	config.QPS, config.Burst = commandQPS, commandBurst
	f := found{config: config, namespace: m.namespace}
	if f.namespace == "" {
		if f.namespace, _, err = loader.Namespace(); err != nil {
			return f, fmt.Errorf("find the namespace: %w", err)
		}
	}
	f.world, err = reachSimulated(rules)
	f.simulated = f.world != ""
	return f, err
}

// file returns the kubeconfig that the flags name; empty for that of the environment.
func (m *management) file() string {
	if m.world != "" {
		return world.Dir(m.world).Kubeconfig()
	}
	return m.kubeconfig
}

// notFound words why there is no configuration of a management cluster.
func (m *management) notFound(rules *clientcmd.ClientConfigLoadingRules, err error) error {
	switch {
	case m.world != "" && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--dir: no world was started in %s: start one with muster up --dir %s", quoted(m.world), quoted(m.world))
	case m.kubeconfig != "" && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--kubeconfig: %s does not exist", quoted(m.kubeconfig))
	case clientcmd.IsEmptyConfig(err) && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "":
		return fmt.Errorf("KUBECONFIG: %s does not exist, or names no cluster", quoted(os.Getenv(clientcmd.RecommendedConfigPathEnvVar)))
	case clientcmd.IsEmptyConfig(err):
		return fmt.Errorf("find the management cluster: %s does not exist, or names no cluster: set KUBECONFIG, --kubeconfig or --dir",
			strings.Join(rules.GetLoadingPrecedence(), ", "))
	}
	return fmt.Errorf("find the management cluster (by --kubeconfig, KUBECONFIG or --dir): %w", err)
}

// reach words a client's error, where its cluster does not answer.
func (f found) reach(err error) error {
	if err == nil || !utilnet.IsConnectionRefused(err) {
		return err
	}
	if f.world != "" {
		return fmt.Errorf("the world in %s is not running: start it with muster up --dir %s", quoted(f.world), quoted(f.world))
	}
	return fmt.Errorf("the management cluster at %s does not answer: %w", f.config.Host, err)
}

// client knows all kinds of Muster, Cluster API and Kubernetes.
func (f found) client() (client.Client, error) {
	scheme, err := manager.NewScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(f.config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("client of the management cluster: %w", f.reach(err))
	}
	return c, nil
}

// textOrJSON returns an error for a form of output that there is not.
func textOrJSON(output string) error {
	if output != "text" && output != "json" {
		return fmt.Errorf("--output: want text or json, found %q", output)
	}
	return nil
}
