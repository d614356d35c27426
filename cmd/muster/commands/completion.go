package commands

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/view"
)

const (
	// completionTimeout bounds the request of one completion: a shell that waits longer seems to hang.
	completionTimeout = 2 * time.Second
	// completionLimit bounds the names of one completion.
	completionLimit = 500
)

// addCompletion has the shell complete the arguments and the values of the flags of a command and of those below it. Nothing is printed
// if there is no API server: the shell then offers no names.
func addCompletion(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		addCompletion(sub)
	}
	if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() && !cmd.DisableFlagParsing {
		cmd.ValidArgsFunction = completeArguments[cmd.Name()]
	}
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		complete, known := completeFlags[f.Name]
		if _, set := cmd.GetFlagCompletionFunc(f.Name); set || f.Value.Type() == "bool" {
			return
		}
		if !known {
			complete = cobra.NoFileCompletions // a number, or a name of the user's own
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // fails for a flag that does not exist, or has a function
	})
}

// completeArguments holds the completion of arguments by the name of the command.
var completeArguments = map[string]cobra.CompletionFunc{
	"plan":  completeObject(isPool),
	"adopt": completeObject(isPool),
	"tree":  completeObject(func(r view.Resource) bool { return isPool(r) || r.Kind == "Cluster" }),

	"abort":   completeObject(isPool),
	"approve": completeObject(isPool),
	"history": completeObject(isPool),
	"pause":   completeObject(isPool),
	"promote": completeObject(isPool),
	"restart": completeObject(isPool),
	"resume":  completeObject(isPool),
	"retry":   completeObject(isPool),
	"status":  completeObject(isPool),
	"undo":    completeObject(isPool),
}

// anyFile completes the names of files, and anyFolder those of directories.
var (
	anyFile   = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	anyFolder = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
)

// completeFlags holds the completion of values by the name of the flag.
var completeFlags = map[string]cobra.CompletionFunc{
	"output":             completeWords(outputs),
	"cloud":              completeWords(func(*cobra.Command) []string { return simulatedClouds }),
	"clouds":             completeClouds,
	"pools":              completeList(builtinNames),
	gatesFlag:            completeList(func(*cobra.Command) []string { return gateValues() }),
	"namespace":          completeNamespace,
	"identity-namespace": completeNamespace,
	"context":            completeWords(contexts),
	"cluster":            completeWords(clusterNames),
	"dir":                anyFolder,
	"file":               anyFile,
	"kubeconfig":         anyFile,
	"tls-ca":             anyFile,
}

// completeClouds offers a list of clouds, or the word for all of them.
func completeClouds(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names := slices.Clone(simulatedClouds)
	if !strings.Contains(typed, ",") {
		names = append(names, everyCloud)
	}
	return completeList(func(*cobra.Command) []string { return names })(cmd, args, typed)
}

// completeWords offers words, of which a flag takes one.
func completeWords(words func(*cobra.Command) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return beginning(words(cmd), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeList offers words, of which a flag takes a list with commas: those that the list does not have yet.
func completeList(words func(*cobra.Command) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before, last := "", typed
		if i := strings.LastIndex(typed, ","); i >= 0 {
			before, last = typed[:i+1], typed[i+1:]
		}
		listed := strings.Split(before, ",")
		var list []string
		for _, word := range beginning(words(cmd), last) {
			if !slices.Contains(listed, word) {
				list = append(list, before+word)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// beginning returns the words that begin with what was typed.
func beginning(words []string, typed string) []string {
	var list []string
	for _, word := range words {
		if strings.HasPrefix(word, typed) {
			list = append(list, word)
		}
	}
	return list
}

// outputs returns the formats of a command, which the description of its flag lists.
func outputs(cmd *cobra.Command) []string {
	_, list, _ := strings.Cut(cmd.Flag("output").Usage, ":")
	return regexp.MustCompile(`\b(json|table|text|yaml)\b`).FindAllString(list, -1)
}

// builtinNames returns the built-in pools of the clouds that --clouds names.
func builtinNames(cmd *cobra.Command) []string {
	clouds, err := cmd.Flags().GetStringSlice("clouds")
	if err != nil || checkClouds(expanded(clouds)) != nil {
		clouds = simulatedClouds
	}
	var list []string
	for _, p := range all.Accounts(expanded(clouds)...).BuiltinPools() {
		list = append(list, p.Name)
	}
	return list
}

// gateValues returns the settings of the feature gates, as the flag of the controllers describes them.
func gateValues() []string {
	set := pflag.NewFlagSet(gatesFlag, pflag.ContinueOnError)
	if manager.AddGatesFlag(set, os.Getenv) != nil {
		return nil
	}
	var list []string
	for _, found := range regexp.MustCompile(`(\w+)=true\|false`).FindAllStringSubmatch(set.Lookup(gatesFlag).Usage, -1) {
		if found[1] != "AllAlpha" && found[1] != "AllBeta" {
			list = append(list, found[1]+"=true", found[1]+"=false")
		}
	}
	return list
}

// isPool reports whether a kind is MachinePool or an infrastructure pool.
func isPool(r view.Resource) bool {
	return r.Kind == "MachinePool" || strings.HasPrefix(r.Group, "infrastructure.") && strings.HasSuffix(r.Kind, "MachinePool")
}

// completeObject offers the kinds for KIND/NAME, then the names. KIND may be a short name, and may stand alone before the name.
func completeObject(of func(view.Resource) bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		kind, _, named := strings.Cut(typed, "/")
		var list []string
		switch {
		case len(args) == 0 && !named:
			for _, r := range view.Resources() {
				if of(r) {
					list = append(list, strings.ToLower(r.Kind)+"/")
				}
			}
			slices.SortFunc(list, coreFirst)
			return beginning(list, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		case len(args) == 0:
			for _, name := range namesOf(cmd, kind, of) {
				list = append(list, kind+"/"+name)
			}
		case len(args) == 1 && !strings.Contains(args[0], "/"):
			list = namesOf(cmd, args[0], of)
		}
		return beginning(list, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// coreFirst orders the kinds of Cluster API before those of the clouds.
func coreFirst(a, b string) int {
	rank := func(kind string) string {
		if kind == "machinepool/" || kind == "cluster/" {
			return ""
		}
		return kind
	}
	return strings.Compare(rank(a), rank(b))
}

// namesOf returns the names of the objects of a kind that was typed, in the namespace of the command.
func namesOf(cmd *cobra.Command, kind string, of func(view.Resource) bool) []string {
	for _, r := range view.Resources() {
		if of(r) && view.SameKind(kind, schema.GroupKind{Group: r.Group, Kind: r.Kind}) {
			return listNames(cmd, r.GroupVersionResource, true)
		}
	}
	return nil
}

// clusterNames returns the names of the Clusters in the namespace of the command.
func clusterNames(cmd *cobra.Command) []string {
	return namesOf(cmd, "cluster", func(r view.Resource) bool { return r.Kind == "Cluster" })
}

// completeNamespace offers the namespaces of the management cluster.
func completeNamespace(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return beginning(listNames(cmd, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, false), typed),
		cobra.ShellCompDirectiveNoFileComp
}

// listNames returns the names of objects of the management cluster that the flags of the command name. It asks once, without discovery, and
// returns none where that fails.
func listNames(cmd *cobra.Command, resource schema.GroupVersionResource, namespaced bool) []string {
	at, err := managementOf(cmd).find()
	if err != nil {
		return nil
	}
	at.config.Timeout, at.config.WarningHandler = completionTimeout, rest.NoWarnings{}
	c, err := metadata.NewForConfig(at.config)
	if err != nil {
		return nil
	}
	namespace := ""
	if namespaced {
		namespace = at.namespace
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
	defer cancel()
	objects, err := c.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: completionLimit})
	if err != nil {
		return nil
	}
	var names []string
	for _, o := range objects.Items {
		names = append(names, o.Name)
	}
	return names
}

// managementOf returns the management cluster that the flags of a command name.
func managementOf(cmd *cobra.Command) *management {
	value := func(flag string) string {
		if f := cmd.Flag(flag); f != nil {
			return f.Value.String()
		}
		return ""
	}
	return &management{kubeconfig: value("kubeconfig"), kubeContext: value("context"), world: value("dir"), namespace: value("namespace")}
}

// contexts returns the contexts of the kubeconfig.
func contexts(cmd *cobra.Command) []string {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = managementOf(cmd).kubeconfig
	config, err := rules.Load()
	if err != nil {
		return nil
	}
	var names []string
	for name := range config.Contexts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
