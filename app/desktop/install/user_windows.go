package install

import (
	"errors"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"ashlar/app/desktop/version"
)

// User registers a program with the desktop of the current user.
func User(program string) ([]Line, error) {
	defer changed()
	return register(currentUser{}, program, version.Number())
}

// RemoveUser undoes User.
func RemoveUser() ([]Line, error) {
	defer changed()
	return unregister(currentUser{})
}

// CheckUser checks whether the registry has the values that [User] writes for a program.
func CheckUser(program string) ([]Line, error) {
	return registered(currentUser{}, program, version.Number())
}

// changed tells Explorer to reload the file associations.
func changed() {
	const associations = 0x08000000 // SHCNE_ASSOCCHANGED
	notify := windows.NewLazySystemDLL("shell32.dll").NewProc("SHChangeNotify")
	if notify.Find() == nil {
		_, _, _ = notify.Call(associations, 0, 0, 0) // no return value
	}
}

// currentUser is the hive HKEY_CURRENT_USER.
type currentUser struct{}

func (currentUser) get(key, name string) (string, bool, error) {
	k, err := registry.OpenKey(registry.CURRENT_USER, key, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return "", false, nil
	} else if err != nil {
		return "", false, err
	}
	defer k.Close()
	v, _, err := k.GetStringValue(name)
	if errors.Is(err, registry.ErrNotExist) {
		return "", false, nil
	}
	return v, err == nil, err
}

func (currentUser) set(key, name, value string) error {
	k, _, err := registry.CreateKey(registry.CURRENT_USER, key, registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer k.Close()
	return k.SetStringValue(name, value)
}

func (currentUser) unset(key, name string) error {
	k, err := registry.OpenKey(registry.CURRENT_USER, key, registry.SET_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer k.Close()
	if err := k.DeleteValue(name); err != nil && !errors.Is(err, registry.ErrNotExist) {
		return err
	}
	return nil
}

func (h currentUser) drop(key string) error {
	k, err := registry.OpenKey(registry.CURRENT_USER, key, registry.ENUMERATE_SUB_KEYS)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	below, err := k.ReadSubKeyNames(-1)
	k.Close()
	if err != nil {
		return err
	}
	for _, name := range below {
		if err := h.drop(key + `\` + name); err != nil {
			return err
		}
	}
	return registry.DeleteKey(registry.CURRENT_USER, key)
}

func (currentUser) dropEmpty(key string) error {
	k, err := registry.OpenKey(registry.CURRENT_USER, key, registry.QUERY_VALUE|registry.ENUMERATE_SUB_KEYS)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	info, err := k.Stat()
	k.Close()
	if err != nil || info.SubKeyCount > 0 || info.ValueCount > 0 {
		return err
	}
	return registry.DeleteKey(registry.CURRENT_USER, key)
}
