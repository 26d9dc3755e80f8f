//go:build unix

package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// asOrdinaryUser makes cmd run as an ordinary user if this process runs as root, and gives dir to
// that user.
func asOrdinaryUser(cmd *exec.Cmd, dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		who, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(who.Uid, 10, 32)
		if err != nil {
			return err
		}
		gid, err := strconv.ParseUint(who.Gid, 10, 32)
		if err != nil {
			return err
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return os.Chown(dir, int(uid), int(gid))
	}
	return fmt.Errorf("PostgreSQL doesn't run as root, and there is neither a user postgres nor nobody: set %s",
		variable)
}
