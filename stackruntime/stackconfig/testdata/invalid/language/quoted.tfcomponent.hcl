language = "TFStack2023" # want error "Unknown language edition" `"TFStack2023"`
