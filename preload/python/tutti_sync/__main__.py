# SPDX-License-Identifier: Apache-2.0
from tutti_sync import main

main()
