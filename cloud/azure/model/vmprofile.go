package model

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
)

const (
	// adminUser is the user that the ecosystem's images are made for.
	adminUser = "capi"
	// dataLimit is Azure's limit on custom data before it is encoded.
	dataLimit = 65535
	// passwordPrefix brings the four kinds of letters that Windows asks for.
	passwordPrefix = "Mu5-"
)

// profile is what machines are made of, and the network interfaces whose accelerated networking follows from the VM size.
func (in Input) profile(name string) (*armcompute.VirtualMachineScaleSetVMProfile, []int, error) {
	t := in.Source.Pool.Template
	if in.Image.kinds() != 1 {
		return nil, nil, fmt.Errorf("translate %s: want an image that has been looked up, found none", fieldImage)
	}
	os, err := in.osProfile(name)
	if err != nil {
		return nil, nil, err
	}
	network, auto, err := in.network(name)
	if err != nil {
		return nil, nil, err
	}
	disks, err := dataDisks(name, in.Source.Pool)
	if err != nil {
		return nil, nil, err
	}
	p := &armcompute.VirtualMachineScaleSetVMProfile{
		OSProfile:      os,
		NetworkProfile: network,
		StorageProfile: &armcompute.VirtualMachineScaleSetStorageProfile{ImageReference: in.Image.reference(), OSDisk: osDisk(t.OSDisk),
			DataDisks: disks},
		SecurityProfile:    security(t.SecurityProfile),
		DiagnosticsProfile: diagnostics(t.Diagnostics),
		ExtensionProfile:   &armcompute.VirtualMachineScaleSetExtensionProfile{Extensions: in.extensions()},
	}
	if t.TerminateNotificationTimeout != nil {
		p.ScheduledEventsProfile = &armcompute.ScheduledEventsProfile{TerminateNotificationProfile: &armcompute.TerminateNotificationProfile{
			Enable: new(true), NotBeforeTimeout: new("PT" + strconv.Itoa(*t.TerminateNotificationTimeout) + "M"),
		}}
	}
	return p, auto, spot(p, t)
}

// osProfile is how the operating system is set up. Bootstrap data stands here and nowhere else.
func (in Input) osProfile(name string) (*armcompute.VirtualMachineScaleSetOSProfile, error) {
	data := in.Bootstrap.Data()
	if len(data) > dataLimit {
		return nil, cloud.Invalidf(fieldBootstrap,
			"bootstrap data has %d bytes and Azure takes %d: make it shorter, for example by fetching files at boot", len(data), dataLimit)
	}
	os := &armcompute.VirtualMachineScaleSetOSProfile{ComputerNamePrefix: new(computerPrefix(name)), AdminUsername: new(adminUser)}
	if len(data) > 0 {
		os.CustomData = new(base64.StdEncoding.EncodeToString(data))
	}
	if in.Source.Pool.Windows() {
		os.WindowsConfiguration = &armcompute.WindowsConfiguration{EnableAutomaticUpdates: new(false)}
		if len(data) > 0 {
			os.AdminPassword = new(password(in.Owner.ID, data))
		}
		return os, nil
	}
	key, err := sshKey(in.Source.Pool.Template.SSHPublicKey)
	if err != nil {
		return nil, err
	}
	os.LinuxConfiguration = &armcompute.LinuxConfiguration{
		DisablePasswordAuthentication: new(true),
		SSH: &armcompute.SSHConfiguration{PublicKeys: []*armcompute.SSHPublicKey{{
			Path: new("/home/" + adminUser + "/.ssh/authorized_keys"), KeyData: &key,
		}}},
	}
	return os, nil
}

// sshKey is the line of an authorized_keys file that the specification has in base64.
func sshKey(encoded string) (string, error) {
	if encoded == "" {
		return "", cloud.Invalidf(fieldSSH, "no key is named, and Azure makes no Linux machine without one: set a public key in base64")
	}
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", cloud.Invalidf(fieldSSH, "want a public key in base64, found what is no base64")
	}
	key := strings.TrimSpace(string(text))
	if !strings.HasPrefix(key, "ssh-") && !strings.HasPrefix(key, "ecdsa-") && !strings.HasPrefix(key, "sk-") {
		return "", cloud.Invalidf(fieldSSH, "want a public key as a line of an authorized_keys file, in base64; this begins with none of "+
			"its kinds")
	}
	return key, nil
}

// password opens nothing for long: what makes a Windows machine ready gives it another one. Azure wants one all the same. It follows from
// the bootstrap data, which is as secret, so that a request that is sent again says the same.
func password(owner string, data []byte) string {
	mac := hmac.New(sha256.New, data)
	mac.Write([]byte("administrator of " + owner))
	return passwordPrefix + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// security is sent as far as the specification says something.
func security(s *azurev1.SecurityProfile) *armcompute.SecurityProfile {
	if s == nil {
		return nil
	}
	out := armcompute.SecurityProfile{EncryptionAtHost: s.EncryptionAtHost}
	if s.SecurityType != "" {
		out.SecurityType = new(armcompute.SecurityTypes(s.SecurityType))
	}
	if u := s.UefiSettings; u != nil && (u.SecureBootEnabled != nil || u.VTpmEnabled != nil) {
		out.UefiSettings = &armcompute.UefiSettings{SecureBootEnabled: u.SecureBootEnabled, VTpmEnabled: u.VTpmEnabled}
	}
	if out == (armcompute.SecurityProfile{}) {
		return nil
	}
	return &out
}

// diagnostics are kept by Azure unless the specification says otherwise.
func diagnostics(d *azurev1.Diagnostics) *armcompute.DiagnosticsProfile {
	boot := &armcompute.BootDiagnostics{Enabled: new(true)}
	if d != nil && d.Boot != nil {
		switch d.Boot.StorageAccountType {
		case azurev1.DisabledDiagnosticsStorage:
			boot.Enabled = new(false)
		case azurev1.UserManagedDiagnosticsStorage:
			if d.Boot.UserManaged != nil {
				boot.StorageURI = &d.Boot.UserManaged.StorageAccountURI
			}
		}
	}
	return &armcompute.DiagnosticsProfile{BootDiagnostics: boot}
}

// spot has machines run on capacity that Azure may take back.
func spot(p *armcompute.VirtualMachineScaleSetVMProfile, t azurev1.AzureMachinePoolMachineTemplate) error {
	s := t.SpotVMOptions
	if s == nil {
		return nil
	}
	// A machine whose disk is the host's own can't be stopped and kept.
	policy := azurev1.SpotEvictionPolicyDeallocate
	if t.OSDisk.DiffDiskSettings != nil {
		policy = azurev1.SpotEvictionPolicyDelete
	}
	p.Priority = new(armcompute.VirtualMachinePriorityTypesSpot)
	p.EvictionPolicy = new(armcompute.VirtualMachineEvictionPolicyTypes(cmp.Or(ptr.Deref(s.EvictionPolicy, ""), policy)))
	if s.MaxPrice != nil {
		price, err := strconv.ParseFloat(s.MaxPrice.AsDec().String(), 64)
		if err != nil {
			return cloud.Invalidf(fieldSpot+".maxPrice", "%q is no price in US dollars", s.MaxPrice.String())
		}
		p.BillingProfile = &armcompute.BillingProfile{MaxPrice: &price}
	}
	return nil
}
