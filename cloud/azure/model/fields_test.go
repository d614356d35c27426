package model_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/fields"
)

// leaves are the paths of all values that a type can have. A map, a quantity and the strategy count as one value.
func leaves(t reflect.Type, path string) []string {
	switch {
	case t == reflect.TypeFor[resource.Quantity](), path == "strategy", t.Kind() == reflect.Map:
		return []string{path}
	case t.Kind() == reflect.Pointer:
		return leaves(t.Elem(), path)
	case t.Kind() == reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return []string{path}
		}
		return leaves(t.Elem(), path+"[]")
	case t.Kind() != reflect.Struct:
		return []string{path}
	}
	var out []string
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		below := path
		if name != "" {
			below = strings.TrimPrefix(path+"."+name, ".")
		}
		out = append(out, leaves(field.Type, below)...)
	}
	return out
}

// at finds a value that is set; false where nothing is.
func at(v reflect.Value, path string) (reflect.Value, bool) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return v, false
		}
		if path == "" && v.Type() != reflect.TypeFor[*resource.Quantity]() {
			v = v.Elem()
			continue
		}
		if path == "" {
			return v, true
		}
		v = v.Elem()
	}
	if path == "" {
		return v, !v.IsZero() || v.Kind() == reflect.Bool
	}
	name, rest, _ := strings.Cut(path, ".")
	item, isList := strings.CutSuffix(name, "[]")
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && tag == "":
			if found, ok := at(v.Field(i), path); ok {
				return found, true
			}
		case tag != item:
		case isList:
			if v.Field(i).Len() == 0 {
				return v, false
			}
			return at(v.Field(i).Index(0), rest)
		default:
			return at(v.Field(i), rest)
		}
	}
	return v, false
}

// others are other values than a base has, where any other text would not do.
var others = map[string]string{
	"template.sshPublicKey":                                   "c3NoLXJzYSBBQUFBQiBvdGhlcg==",
	"template.osDisk.osType":                                  "Windows",
	"template.securityProfile.securityType":                   "",
	"template.diagnostics.boot.storageAccountType":            "Disabled",
	"template.diagnostics.boot.userManaged.storageAccountURI": "https://other.blob.core.windows.net/",
	"identity": "SystemAssigned", "orchestrationMode": "Flexible",
}

// change gives a value another one.
func change(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		if other, ok := others[path]; ok {
			if v.String() == other {
				other = "None"
			}
			v.SetString(other)
			return
		}
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Map:
		v.SetMapIndex(reflect.ValueOf("more"), reflect.ValueOf("value"))
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.ValueOf("more")))
	case reflect.Pointer:
		v.Set(reflect.ValueOf(new(resource.MustParse("0.5"))))
	case reflect.Struct:
		v.FieldByName("Type").SetString("Other")
	}
}

// bases are specifications that together set every field.
func bases() []*azurev1.AzureMachinePoolSpec {
	full := seed()
	full.AdditionalTags = azurev1.Tags{"team": "pool"}
	full.ProviderID, full.ProviderIDList = "azure:///x", []string{"azure:///x/0"}
	full.Identity, full.UserAssignedIdentities = azurev1.VMIdentityUserAssigned,
		[]azurev1.UserAssignedIdentity{{ProviderID: "azure:///subscriptions/s/resourceGroups/g/" +
			"providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"}}
	full.PlatformFaultDomainCount, full.ZoneBalance, full.OrchestrationMode = new(int32(1)), new(true), azurev1.UniformOrchestrationMode
	full.Strategy.Type = "RollingUpdate"
	t := &full.Template
	t.OSDisk.CachingType = azurev1.CachingReadWrite
	t.OSDisk.ManagedDisk.DiskEncryptionSet = &azurev1.DiskEncryptionSetParameters{ID: "/subscriptions/s/des"}
	t.OSDisk.ManagedDisk.SecurityProfile = &azurev1.VMDiskSecurityProfile{
		SecurityEncryptionType: azurev1.SecurityEncryptionTypeVMGuestStateOnly,
		DiskEncryptionSet:      &azurev1.DiskEncryptionSetParameters{ID: "/subscriptions/s/cvm"},
	}
	t.DataDisks = []azurev1.DataDisk{{NameSuffix: "a", DiskSizeGB: 10, Lun: new(int32(3)), CachingType: azurev1.CachingReadOnly,
		ManagedDisk: new(*t.OSDisk.ManagedDisk)}}
	t.SSHPublicKey = seed().Template.SSHPublicKey
	t.AdditionalCapabilities = &azurev1.AdditionalCapabilities{UltraSSDEnabled: new(true)}
	t.Diagnostics = &azurev1.Diagnostics{Boot: &azurev1.BootDiagnostics{StorageAccountType: azurev1.UserManagedDiagnosticsStorage,
		UserManaged: &azurev1.UserManagedBootDiagnostics{StorageAccountURI: "https://mine.blob.core.windows.net"}}}
	t.TerminateNotificationTimeout = new(7)
	t.SecurityProfile = &azurev1.SecurityProfile{EncryptionAtHost: new(true), SecurityType: azurev1.SecurityTypesTrustedLaunch,
		UefiSettings: &azurev1.UefiSettings{SecureBootEnabled: new(true), VTpmEnabled: new(true)}}
	t.VMExtensions = []azurev1.VMExtension{{Name: "e", Publisher: "p", Version: "1.0", Settings: map[string]string{"a": "b"},
		ProtectedSettings: map[string]string{"password": "hunter2"}}}
	t.DisableVMBootstrapExtension = new(true)
	t.NetworkInterfaces = []azurev1.NetworkInterface{{SubnetName: "capz-node-subnet", PrivateIPConfigs: 2, AcceleratedNetworking: new(true)}}

	spot := seed()
	spot.Template.SpotVMOptions = &azurev1.SpotVMOptions{MaxPrice: new(resource.MustParse("0.25")),
		EvictionPolicy: new(azurev1.SpotEvictionPolicyDelete)}
	spot.Template.OSDisk.DiffDiskSettings = &azurev1.DiffDiskSettings{Option: "Local", Placement: new(azurev1.DiffDiskPlacementCacheDisk)}
	spot.Template.SubnetName, spot.Template.AcceleratedNetworking = "capz-node-subnet", new(true)
	spot.Template.Image = &azurev1.Image{ID: new("/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/i")}

	role := seed()
	role.Identity, role.SystemAssignedIdentityRole = azurev1.VMIdentitySystemAssigned,
		&azurev1.SystemAssignedIdentityRole{Name: "00000000-0000-0000-0000-00000000000a", DefinitionID: "/roles/a", Scope: "/subscriptions/s"}
	role.Template.Image = &azurev1.Image{Marketplace: &azurev1.AzureMarketplaceImage{ImagePlan: azurev1.ImagePlan{Publisher: "p", Offer: "o",
		SKU: "s"}, Version: "1.0.0", ThirdPartyImage: true}}

	old := seed()
	old.Identity, old.RoleAssignmentName = azurev1.VMIdentitySystemAssigned, "00000000-0000-0000-0000-00000000000b"
	old.Template.Image = &azurev1.Image{SharedGallery: &azurev1.AzureSharedGalleryImage{SubscriptionID: "s", ResourceGroup: "g", Gallery: "g",
		Name: "n", Version: "1.0.0", Publisher: new("p"), Offer: new("o"), SKU: new("k")}}

	own := seed()
	own.Template.Image = &azurev1.Image{ComputeGallery: &azurev1.AzureComputeGalleryImage{Gallery: "g", Name: "n", Version: "1.0.0",
		SubscriptionID: new("s"), ResourceGroup: new("g"), Plan: &azurev1.ImagePlan{Publisher: "p", Offer: "o", SKU: "k"}}}
	return []*azurev1.AzureMachinePoolSpec{full, spot, role, old, own}
}

// nothing are the fields that change nothing in the scale set.
var nothing = []string{"spec.strategy", "spec.providerID", "spec.providerIDList"}

// effects are the words of the document.
var effects = map[fields.Effect]string{fields.Rolls: "rolls", fields.InPlace: "in place", fields.Fixed: "fixed"}

func TestFields(t *testing.T) {
	cloudtest.Fields{
		Rows: model.Rows(), Spec: reflect.TypeFor[azurev1.AzureMachinePoolSpec](), Without: nothing,
		Page: "../../../docs/azure-model.md", Mark: "fields of a scale set", Kind: "AzureMachinePool", Places: "ARM property", Cloud: "a change",
		Effects: effects,
	}.Check(t, *update)
}

// documented returns what the rows tell of a field, and of those that it is within: a change may have another outcome for some values.
func documented(path string) (words []string) {
	for path = "spec." + bare(path); strings.Contains(path, "."); path = path[:strings.LastIndexByte(path, '.')] {
		if slices.Contains(nothing, path) {
			return []string{"nothing"}
		}
		for _, r := range model.Rows() {
			if r.Spec == path || r.Alias == path {
				word, _, _ := strings.Cut(cmp.Or(r.Doc, effects[r.Effect]), ":")
				words = append(words, word)
			}
		}
	}
	return words
}

// Every field of the specification does what its row tells: a field that is forgotten in the translation changes nothing.
func TestEveryFieldDoesWhatIsSaidOfIt(t *testing.T) {
	seen, all := map[string]bool{}, leaves(reflect.TypeFor[azurev1.AzureMachinePoolSpec](), "")
	for _, base := range bases() {
		for _, path := range all {
			spec := base.DeepCopy()
			value, ok := at(reflect.ValueOf(spec), path)
			if !ok {
				continue
			}
			seen[path] = true
			before := input(t, base)
			before.FailureDomains = []string{"1", "2"}
			change(value, path)
			after := input(t, spec)
			after.FailureDomains = before.FailureDomains
			if got := outcome(t, path, before, after); !slices.Contains(documented(path), got) {
				t.Errorf("%s: want %q as the document says, got %q", path, documented(path), got)
			}
		}
	}
	for _, path := range all {
		if !seen[path] {
			t.Errorf("%s: want a base that sets it, got none", path)
		}
	}
}

// outcome is what a change does, in the document's words.
func outcome(t *testing.T, path string, before, after model.Input) string {
	t.Helper()
	was := build(t, before)
	cur := echo(t, was)
	is := build(t, after)
	fits, unchangeable := is.Onto(cur)
	state := fits.Against(cur).State
	firstRole, _ := model.RoleOf(before.Owner, before.Source)
	nextRole, _ := model.RoleOf(after.Owner, after.Source)
	switch {
	case len(unchangeable) > 0:
		if !slices.ContainsFunc(unchangeable, func(field string) bool { return strings.HasPrefix("spec."+path, field) }) {
			t.Errorf("%s: want the field named, got %v", path, unchangeable)
		}
		return "fixed"
	case fits.Content != was.Content:
		changed(t, path, fits, cur, state)
		return "rolls"
	case len(state.Drift) > 0:
		changedInPlace(t, path, fits, cur, state)
		return "in place"
	case firstRole != nextRole:
		return "role"
	}
	return "nothing"
}

// changed makes sure that the request carries the change, so that it is not asked for again.
func changed(t *testing.T, path string, m *model.Model, cur model.Current, state model.State) {
	t.Helper()
	// A name says nothing of a machine, and a security type that is taken out stays.
	visible := path != "template.dataDisks[].nameSuffix" && path != "template.securityProfile.securityType"
	if visible && !slices.ContainsFunc(state.Differs, func(field string) bool {
		return strings.HasPrefix("spec."+bare(path), bare(field)) || related(path, field)
	}) {
		t.Errorf("%s: want the field named as what differs, got %v", path, state.Differs)
	}
	next := model.Read(patched(t, cur.Set, m.Change(cur)))
	if got := m.Against(next).State; got.Content != m.Content || len(got.Differs)+len(got.Drift) > 0 {
		t.Errorf("%s: want content %s and nothing left to do after the change, got %+v", path, m.Content, got)
	}
	if next.Capacity() != cur.Capacity() {
		t.Errorf("%s: want capacity %d untouched, got %d", path, cur.Capacity(), next.Capacity())
	}
}

func changedInPlace(t *testing.T, path string, m *model.Model, cur model.Current, state model.State) {
	t.Helper()
	if !slices.ContainsFunc(state.Drift, func(field string) bool { return strings.HasPrefix("spec."+path, field) || related(path, field) }) {
		t.Errorf("%s: want the field named as what drifts, got %v", path, state.Drift)
	}
	next := model.Read(patched(t, cur.Set, m.InPlaceChange(cur)))
	c := m.Against(next)
	if got := c.State; got.Content != m.Content || len(got.Drift) > 0 {
		t.Errorf("%s: want nothing left to do after the change, got %+v", path, got)
	}
	behind := c.Uniform(uniform(cur)).InPlaceDrift
	if !slices.Equal(behind, state.Drift) {
		t.Errorf("%s: want a machine behind in %v, got %v", path, state.Drift, behind)
	}
	if now := c.Uniform(uniform(next)); now.Content != m.Content || len(now.InPlaceDrift) > 0 {
		t.Errorf("%s: want a machine that took it up to have content %s and to be behind in nothing, got %+v", path, m.Content, now)
	}
}

// bare is a path without the marks of lists.
func bare(path string) string { return strings.ReplaceAll(path, "[]", "") }

// related are fields that are named by another one, for it is what is sent that is compared.
func related(path, field string) bool {
	for from, to := range map[string]string{
		"template.acceleratedNetworking": "spec.template.networkInterfaces", "template.subnetName": "spec.template.networkInterfaces",
		"identity": "spec.identity", "template.disableVMBootstrapExtension": model.FieldExtensions,
	} {
		if path == from && strings.HasPrefix(field, to) {
			return true
		}
	}
	return false
}

// patched is a document after a JSON merge patch (RFC 7386), which is what Azure makes of a PATCH.
func patched[T, P any](t *testing.T, document T, patch P) T {
	t.Helper()
	tree := func(v any) (out any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	var merge func(into, from any) any
	merge = func(into, from any) any {
		fields, ok := from.(map[string]any)
		if !ok {
			return from
		}
		out, _ := into.(map[string]any)
		out = maps.Clone(out)
		if out == nil {
			out = map[string]any{}
		}
		for name, value := range fields {
			if value == nil {
				delete(out, name)
				continue
			}
			if name == "tags" {
				out[name] = value
				continue
			}
			out[name] = merge(out[name], value)
		}
		return out
	}
	text, err := json.Marshal(merge(tree(document), tree(patch)))
	if err != nil {
		t.Fatal(err)
	}
	var next T
	if err := json.Unmarshal(text, &next); err != nil {
		t.Fatal(err)
	}
	return next
}
