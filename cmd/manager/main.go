// Command manager runs Muster's controllers and webhooks in a management cluster, beside Cluster API's own managers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/cluster-api/controllers/remote"
	"sigs.k8s.io/cluster-api/util/apiwarnings"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/manager/tracing"
)

func main() {
	err := registerJSON()
	if err == nil {
		err = run(ctrl.SetupSignalHandler(), os.Args[1:], os.Getenv)
	}
	switch {
	case errors.Is(err, pflag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

// run is the whole life of the process: flags, the manager, its end.
func run(ctx context.Context, args []string, env func(string) string) (err error) {
	f, err := parse(args, env)
	if err != nil {
		return err
	}
	if err := logsv1.ValidateAndApply(f.logs, nil); err != nil {
		return fmt.Errorf("logging flags: %w", err)
	}
	ctrl.SetLogger(klog.Background())
	options, err := f.options(env)
	if err != nil {
		return err
	}
	options.Lean = true
	spans, err := tracing.New(ctx, f.tracing, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spans.Shutdown(ctx)) }()
	spans.Report(func(err error) { klog.InfoS("spans can't be sent", "reason", err.Error()) })
	options.Tracer = spans.Tracer()
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the management cluster (--kubeconfig, KUBECONFIG, or the pod's own): %w", err)
	}
	config.QPS, config.Burst = f.kubeQPS, f.kubeBurst
	config.UserAgent = remote.DefaultClusterAPIUserAgent(userAgent)
	config.WarningHandler = apiwarnings.DefaultHandler(klog.Background().WithName("API Server Warning"))
	m, err := manager.New(ctx, config, options)
	if err != nil {
		return err
	}
	klog.InfoS("starting", "version", version(), "controllers", options.Controllers)
	if err := m.Start(ctx); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

// parse reads the command line.
func parse(args []string, env func(string) string) (*flags, error) {
	set := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	set.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	f, err := newFlags(set, env)
	if err != nil {
		return nil, err
	}
	set.AddGoFlagSet(flag.CommandLine)
	if err := set.Parse(args); err != nil {
		return nil, fmt.Errorf("command line: %w", err)
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("command line: want flags alone, found %q", set.Args())
	}
	return f, nil
}
