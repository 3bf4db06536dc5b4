// The folder of a project: where everything lies, and the keys.
#pragma once

#include <string>
#include <vector>

#include "base/crypto.h"
#include "base/file.h"
#include "workunits/keyring.h"

namespace quorate {

struct ProjectFolder {
  fs::path root;

  // Only names are made here; nothing looks at the disk.
  fs::path settings() const { return root / "quorate.toml"; }
  fs::path keys() const { return root / "keys"; }
  fs::path project_key() const { return keys() / "project.key"; }
  // The list that the root key sealed, if there is one: workunits/keyring.
  fs::path keyring() const { return keys() / "keyring"; }
  // The key of a list that is not in force yet: server/settings/key_renewal.
  fs::path next_project_key() const { return keys() / "project.key.next"; }
  fs::path house_key() const { return keys() / "house.key"; }
  fs::path boinc_upload_key() const { return keys() / "boinc_upload.key"; }
  // Who may log in to the page for administration: server/web/web_operators.
  fs::path web_operators() const { return keys() / "web_operators.json"; }
  fs::path tls_certificate() const { return keys() / "tls.crt"; }
  fs::path tls_key() const { return keys() / "tls.key"; }
  fs::path database() const { return root / "db" / "quorate.sqlite"; }
  fs::path objects() const { return root / "objects"; }
  fs::path temporary() const { return root / "tmp"; }
  fs::path uploads() const { return root / "uploads"; }
  fs::path datasets() const { return root / "datasets"; }
  fs::path log() const { return root / "log" / "quorate.log"; }
  fs::path lock() const { return root / "run" / "lock"; }
  // Downloads from peers that are under way: server/peers/peer_client.
  fs::path peers() const { return root / "peers"; }
  // Held by a backup while it copies objects: none may be removed then.
  fs::path backup_lock() const { return root / "run" / "backup.lock"; }
  // Of one data set: what the project knows of it, and some of its samples.
  fs::path manifest(const std::string& name) const {
    return datasets() / (name + ".json");
  }
  fs::path picture(const std::string& name) const {
    return datasets() / (name + ".png");
  }
  // Held while a data set is added: nobody removes one meanwhile.
  fs::path datasets_lock() const { return root / "run" / "datasets.lock"; }
  // Held while web operators are changed.
  fs::path web_lock() const { return root / "run" / "web.lock"; }
  fs::path admin_socket() const { return root / "run" / "admin.sock"; }
  // What is published for BOINC clients: server/apps/app_manifest, the files
  // that it names, and the key that signs them, unless it is kept elsewhere.
  fs::path boinc_apps() const { return root / "boinc" / "app_versions.json"; }
  fs::path boinc_files() const { return root / "boinc" / "files"; }
  fs::path boinc_key() const { return keys() / "boinc_code_sign.key"; }
  // Held while that is changed.
  fs::path boinc_lock() const { return root / "run" / "boinc.lock"; }
};

// The names of the project's data sets, in no order.
std::vector<std::string> dataset_names(const ProjectFolder& folder);

// The project's key signs units, ledger and statements; the house's signs what
// the server's own workers computed. id: the hash of the project's root key, by
// which volunteers know it. Whoever has the root's file is the project; it is
// project.key until `quorate keys renew` has put another in its place.
struct ProjectKeys {
  PrivateKey project;
  PrivateKey house;
  ProjectId id;
  Keyring ring;  // project is the private half of its last
};

// Of a project that signs with the only key that it ever had.
ProjectKeys keys_of(PrivateKey project, PrivateKey house);

// The folders of a project, for those that make one: nobody else may enter.
// Other users could read updates before their quorum, and lock what is locked.
void make_project_folders(const ProjectFolder& folder);
// Makes a new project: folders, keys, settings file, TLS certificate. Throws
// usage if there is a project already, or the folder holds something else.
void create_project(const ProjectFolder& folder, const std::string& name,
                    const std::string& url);
// Throws usage, saying how to make one, if there is no project.
ProjectKeys load_keys(const ProjectFolder& folder);

}  // namespace quorate
