package model

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
)

// What the ecosystem's extension runs: it ends when cloud-init has said that the machine has joined, or fails after five minutes.
const (
	bootstrapPublisher = "Microsoft.Azure.ContainerUpstream"
	bootstrapSentinel  = "/run/cluster-api/bootstrap-success.complete"
	bootstrapLinux     = "for i in $(seq 1 60); do test -f " + bootstrapSentinel +
		" && break; if [ $i -eq 60 ]; then exit 1; else sleep 5; fi; done"
	bootstrapWindows = `powershell.exe -Command "for ($i = 0; $i -lt 60; $i++) {if (Test-Path '` + bootstrapSentinel +
		`') {exit 0} else {Start-Sleep -Seconds 5}} exit -2"`
	// publicCloud is the only one in which that extension is offered.
	publicCloud = "AzurePublicCloud"
)

// armSize is how the sizes with ARM processors are named: by the letter p behind the number of their CPUs.
var armSize = regexp.MustCompile(`(?i)^Standard_[A-Z]+\d+(-\d+)?[a-z]*p[a-z]*(_|$)`)

// extensions of machines, in the order of the specification, which is the order in which Azure runs them.
func (in Input) extensions() []*armcompute.VirtualMachineScaleSetExtension {
	out := []*armcompute.VirtualMachineScaleSetExtension{}
	for _, e := range in.Source.Pool.Template.VMExtensions {
		out = append(out, extension(e.Name, e.Publisher, e.Version, e.Settings, e.ProtectedSettings))
	}
	if off := in.Source.Pool.Template.DisableVMBootstrapExtension; off == nil || *off || in.Source.Cluster.Environment != publicCloud {
		return out
	}
	name, command, version := "CAPZ.Linux.Bootstrapping", bootstrapLinux, "1.0"
	switch {
	case in.Source.Pool.Windows():
		name, command = "CAPZ.Windows.Bootstrapping", bootstrapWindows
	case armSize.MatchString(in.Source.Pool.Template.VMSize):
		version = "1.1"
	}
	return append(out, extension(name, bootstrapPublisher, version, nil, map[string]string{"commandToExecute": command}))
}

func extension(name, publisher, version string, settings, protected map[string]string) *armcompute.VirtualMachineScaleSetExtension {
	out := &armcompute.VirtualMachineScaleSetExtension{Name: &name, Properties: &armcompute.VirtualMachineScaleSetExtensionProperties{
		Publisher: &publisher, Type: &name, TypeHandlerVersion: &version,
	}}
	if len(settings) > 0 {
		out.Properties.Settings = settings
	}
	if len(protected) > 0 {
		out.Properties.ProtectedSettings = protected
	}
	return out
}

// inPlace tells apart what machines can take up while they exist: extensions, and what users tag them with.
func inPlace(owner cloud.Owner, extensions []*armcompute.VirtualMachineScaleSetExtension, tags map[string]string) (string, error) {
	var list []any
	for _, e := range extensions {
		secret, err := secretHash(owner.ID, e.Properties.ProtectedSettings)
		if err != nil {
			return "", err
		}
		list = append(list, map[string]any{
			"name": e.Name, "publisher": e.Properties.Publisher, "version": e.Properties.TypeHandlerVersion, "settings": e.Properties.Settings,
			"protected": secret,
		})
	}
	of, err := digestOf(list, inPlaceLength)
	if err != nil {
		return "", err
	}
	tagged, err := digestOf(tags, inPlaceLength)
	return of + "-" + tagged, err
}

// secretHash notices that a secret has changed. It is no hash of the secret that an attacker could try values against.
func secretHash(owner string, secret any) (string, error) {
	if secret == nil {
		return "", nil
	}
	text, err := json.Marshal(secret)
	if err != nil {
		return "", fmt.Errorf("encode protected settings for their hash: %w", err)
	}
	mac := hmac.New(sha256.New, []byte(owner))
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil))[:secretLength], nil
}

// cutInPlace takes the hash of extensions and that of tags apart.
func cutInPlace(text string) (extensions, tags string) {
	extensions, tags, _ = strings.Cut(text, "-")
	return extensions, tags
}

// Extensions returns the hash of the wanted extensions.
func (m *Model) Extensions() string {
	extensions, _ := cutInPlace(m.InPlace)
	return extensions
}

// hasExtensions reports whether a machine is known to have the wanted extensions and no others. Protected settings are shown nowhere: where
// some are wanted, it is not known.
func (m *Model) hasExtensions(list []*armcompute.VirtualMachineExtension) bool {
	secret := func(e *armcompute.VirtualMachineScaleSetExtension) bool { return e.Properties.ProtectedSettings != nil }
	all, others := m.ExtensionsShown(list)
	return all && others == "" && !slices.ContainsFunc(m.extensions(), secret)
}

// ExtensionsShown reports whether a machine shows all wanted extensions, apart from protected settings, which are shown nowhere, and the
// names of the others that it shows.
func (m *Model) ExtensionsShown(list []*armcompute.VirtualMachineExtension) (all bool, others string) {
	all = true
	for _, e := range m.extensions() {
		all = all && slices.ContainsFunc(list, func(is *armcompute.VirtualMachineExtension) bool { return showsExtension(is, e) })
	}
	var names []string
	for _, is := range list {
		if name := extensionName(is); !slices.ContainsFunc(m.extensions(),
			func(e *armcompute.VirtualMachineScaleSetExtension) bool { return strings.EqualFold(*e.Name, name) }) {
			names = append(names, strings.ToLower(name))
		}
	}
	slices.Sort(names)
	return all, strings.Join(names, ", ")
}

// extensions are the wanted ones.
func (m *Model) extensions() []*armcompute.VirtualMachineScaleSetExtension {
	return m.Set.Properties.VirtualMachineProfile.ExtensionProfile.Extensions
}

// extensionName is the name of an extension. Below a machine it may be shown behind the machine's, as in an ID.
func extensionName(is *armcompute.VirtualMachineExtension) string {
	if is == nil {
		return ""
	}
	name := ptr.Deref(is.Name, "")
	return name[strings.LastIndexByte(name, '/')+1:]
}

// shown is what Azure shows of an extension, of a scale set or of a machine: all but protected settings.
type shown struct {
	name, publisher, kind, version string
	settings                       any
}

// same reports whether Azure means the same extension by both.
func (s shown) same(o shown) bool {
	return strings.EqualFold(s.name, o.name) && strings.EqualFold(s.publisher, o.publisher) && strings.EqualFold(s.kind, o.kind) &&
		s.version == o.version && sameSettings(s.settings, o.settings)
}

// shownOf is what is shown of a scale set's extension.
func shownOf(e *armcompute.VirtualMachineScaleSetExtension) shown {
	p := ptr.Deref(e.Properties, armcompute.VirtualMachineScaleSetExtensionProperties{})
	return shown{ptr.Deref(e.Name, ""), ptr.Deref(p.Publisher, ""), ptr.Deref(p.Type, ""), ptr.Deref(p.TypeHandlerVersion, ""), p.Settings}
}

// showsExtension reports whether a machine's extension is the wanted one of its scale set.
func showsExtension(is *armcompute.VirtualMachineExtension, wanted *armcompute.VirtualMachineScaleSetExtension) bool {
	if is == nil || is.Properties == nil {
		return false
	}
	p := is.Properties
	return shown{extensionName(is), ptr.Deref(p.Publisher, ""), ptr.Deref(p.Type, ""), ptr.Deref(p.TypeHandlerVersion, ""), p.Settings}.
		same(shownOf(wanted))
}

// sameSettings compares settings as they are on the wire. None and empty ones are the same.
func sameSettings(is, wanted any) bool {
	one, err := settingsText(is)
	other, failed := settingsText(wanted)
	return err == nil && failed == nil && one == other
}

func settingsText(settings any) (string, error) {
	text, err := json.Marshal(settings)
	if string(text) == "{}" {
		return "null", err
	}
	return string(text), err
}
