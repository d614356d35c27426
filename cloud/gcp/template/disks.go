package template

import (
	"fmt"

	"google.golang.org/api/compute/v1"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
)

// scratch is the type of disks on the host.
const scratch = "SCRATCH"

// disks are the boot disk and those beside it. All go with their machine.
func (s Source) disks() ([]*compute.AttachedDisk, error) {
	key, err := encryption(s.Pool.RootDiskEncryptionKey, "spec.rootDiskEncryptionKey")
	if err != nil {
		return nil, err
	}
	out := []*compute.AttachedDisk{{
		Boot: true, AutoDelete: true, DiskEncryptionKey: key, InitializeParams: &compute.AttachedDiskInitializeParams{
			SourceImage: s.Image, DiskSizeGb: s.Pool.RootSize(), DiskType: string(s.Pool.RootType()),
		},
	}}
	for i := range s.Pool.AdditionalDisks {
		is := &s.Pool.AdditionalDisks[i]
		key, err := encryption(is.EncryptionKey, fmt.Sprintf("spec.additionalDisks[%d].encryptionKey", i))
		if err != nil {
			return nil, err
		}
		d := &compute.AttachedDisk{
			AutoDelete: true, DiskEncryptionKey: key,
			InitializeParams: &compute.AttachedDiskInitializeParams{DiskSizeGb: is.SizeGB(), DiskType: string(is.Type())},
		}
		if is.Type() == gcpv1.DiskTypeLocalSSD {
			d.Type, d.Interface = scratch, "NVME"
		}
		out = append(out, d)
	}
	return out, nil
}

// encryption returns a key of Cloud Key Management Service. Compute Engine keeps no other in an instance template.
func encryption(k *gcpv1.CustomerEncryptionKey, field string) (*compute.CustomerEncryptionKey, error) {
	if k == nil {
		return nil, nil
	}
	if k.ManagedKey == nil {
		return nil, cloud.Invalidf(field+".keyType",
			"instance templates hold no keys of customers, so that no managed instance group can use one: set a key of Cloud Key Management "+
				"Service (keyType Managed)")
	}
	out := &compute.CustomerEncryptionKey{KmsKeyName: k.ManagedKey.KMSKeyName}
	if k.KMSKeyServiceAccount != nil {
		out.KmsKeyServiceAccount = *k.KMSKeyServiceAccount
	}
	return out, nil
}
